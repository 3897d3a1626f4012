/**
 * The environment of a server: not ours, whose PG…, NODE_… and LC_… variables would change what it does.
 *
 * @param libraryPath where the shared libraries of an unpacked package are
 */
export function serverEnvironment(libraryPath?: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    LANG: 'C',
    LC_ALL: 'C',
    TZ: 'GMT',
    ...(libraryPath ? { LD_LIBRARY_PATH: libraryPath } : {}),
  };
}
