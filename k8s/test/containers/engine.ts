import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGuarded } from '#local/servers/guarded-process.js';
import { type CommandResult, runCommand } from '#local/servers/run-command.js';
import { ROOT } from '../settings.js';
import { unpackedDocker } from './packages.js';

const STARTS_WITHIN_MS = 30_000;

export interface Engine {
  /** True if started here from Debian's packages: it cannot pull images or resolve external names. */
  readonly own: boolean;
  docker(args: readonly string[], options?: { timeout?: number; cwd?: string }): Promise<CommandResult>;
  compose(args: readonly string[]): Promise<CommandResult>;
  /** Folder of Debian's tools, if they were unpacked. */
  readonly tree: string | undefined;
  stop(): Promise<void>;
}

/**
 * Returns the engine of this machine or else, as root on Debian, starts an engine with a separate socket, which does not modify the
 * machine's firewall or another engine's data.
 */
export async function startEngine(): Promise<Engine> {
  if ((await runCommand('docker', ['info'])).code === 0) {
    const { code } = await runCommand('docker', ['compose', 'version']);
    const [tool = '', ...first] = code === 0 ? ['docker', 'compose'] : ['docker-compose'];
    return {
      own: false,
      tree: undefined,
      docker: (args, options) => runCommand('docker', args, { timeout: 900_000, ...options }),
      compose: (args) => runCommand(tool, [...first, ...args], { cwd: ROOT, timeout: 900_000 }),
      stop: () => Promise.resolve(),
    };
  }
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new Error(
      'No container engine answers ("docker info"), and one of our own needs root on Debian or Ubuntu: start Docker, or run ' +
        'this as root. Nothing was tested.',
    );
  const tree = await unpackedDocker(join(ROOT, '.local/packages'));
  return ownEngine(tree);
}

async function ownEngine(tree: string): Promise<Engine> {
  const state = join(ROOT, '.local/containers');
  await mkdir(state, { recursive: true });
  const run = await mkdtemp('/tmp/engine-');
  const libraries = join(tree, 'usr/lib/x86_64-linux-gnu');
  const env = {
    ...process.env,
    PATH: [join(tree, 'usr/sbin'), join(tree, 'usr/bin'), process.env['PATH'], '/usr/sbin', '/sbin'].join(
      delimiter,
    ),
    LD_LIBRARY_PATH: libraries,
    // The rules that make names known inside of a container, in its own network; not the machine's.
    XTABLES_LIBDIR: join(libraries, 'xtables'),
    DOCKER_HOST: `unix://${run}/docker.sock`,
    DOCKER_BUILDKIT: '0',
    DEBOOTSTRAP_DIR: join(tree, 'usr/share/debootstrap'),
  };
  const daemon = startGuarded({
    name: 'dockerd',
    command: join(tree, 'usr/sbin/dockerd'),
    args: [
      ['--iptables=false', '--ip6tables=false', '--ip-forward=false', '--ip-masq=false', '--bridge=none'],
      ['--data-root', join(state, 'data'), '--exec-root', join(run, 'exec')],
      ['--pidfile', join(run, 'pid'), '--host', env.DOCKER_HOST],
    ].flat(),
    cwd: run,
    env,
    logFile: join(state, 'dockerd.log'),
    signal: 'SIGTERM',
    grace: 20_000,
  });
  const docker: Engine['docker'] = (args, options) =>
    runCommand(join(tree, 'usr/bin/docker'), args, { env, timeout: 900_000, ...options });
  const python = { ...env, PYTHONPATH: join(tree, 'usr/lib/python3/dist-packages') };
  const engine: Engine = {
    own: true,
    tree,
    docker,
    compose: (args) =>
      runCommand('/usr/bin/python3', [join(tree, 'usr/bin/docker-compose'), ...args], {
        env: python,
        cwd: ROOT,
        timeout: 900_000,
      }),
    async stop() {
      await daemon.stop();
      // A remaining mount of its networks prevents the removal of the folder.
      await runCommand('umount', [join(run, 'exec/netns/default')]);
      await rm(run, { recursive: true, force: true });
    },
  };
  const failed = daemon.ended.then((how) => `it ended: ${how}`);
  for (const end = Date.now() + STARTS_WITHIN_MS; (await docker(['info'])).code !== 0;) {
    const over = await Promise.race([failed, sleep(300)]);
    if (over === undefined && Date.now() < end) continue;
    await engine.stop();
    throw new Error(
      `No container engine can be started here (${over ?? 'no answer'}; see .local/containers/dockerd.log). Nothing was tested.`,
    );
  }
  return engine;
}
