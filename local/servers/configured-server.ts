import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startGuarded } from './guarded-process.js';
import { keptSecret } from './local-folder.js';
import { type BackingService, type ServiceOptions, startService } from './started-service.js';
import { serverEnvironment } from './find-server.js';
import { temporaryFolder } from './service-folder.js';

export interface ConfiguredServer {
  readonly name: string;
  readonly program: 'nats-server' | 'redis-server';
  /** Name of the server's folder and files. */
  readonly role: string;
  configuration(at: { port: number; password: string; folder: string }): string;
  arguments(file: string): string[];
  url(at: { port: number; password: string }): string;
  /** Rejects if the server does not accept the password. */
  connect(url: string): Promise<void>;
}

/** Starts a server in a folder that only the current user may enter. */
export async function startConfigured(
  server: ConfiguredServer,
  options: ServiceOptions,
): Promise<BackingService> {
  const [found] = await options.find(server.program, options.directory);
  if (!found) throw new Error(`no ${server.program} was found`);
  const folder = options.persistent
    ? join(options.directory, server.role)
    : await temporaryFolder(server.role, undefined);
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o700);
  const password = await keptSecret(join(folder, 'password'));
  // The password is in a file, because every user of the machine can read a command line.
  const file = join(folder, `${server.role}.conf`);
  const logFile = join(folder, `${server.role}.log`);
  return startService(server.name, logFile, async (port) => {
    await writeFile(file, server.configuration({ port, password, folder }), { mode: 0o600 });
    const process = startGuarded({
      name: server.name,
      command: found.command,
      args: server.arguments(file),
      cwd: folder,
      env: serverEnvironment(found.libraryPath),
      logFile,
      signal: 'SIGTERM',
      grace: 3_000,
      remove: options.persistent ? [] : [folder],
    });
    const url = server.url({ port, password });
    return { url, process, connect: () => server.connect(url) };
  });
}
