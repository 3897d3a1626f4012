import { access, mkdir, rename, symlink, mkdtemp, rm } from 'node:fs/promises';
import { join, delimiter } from 'node:path';
import { Apt } from '#local/servers/apt.js';
import { progressOn } from '#local/servers/progress.js';
import { Workspace } from '#local/servers/workspace.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGuarded } from '#local/servers/guarded-process.js';
import { type CommandResult, runCommand } from '#local/servers/run-command.js';
import { ROOT } from '../settings.js';

const ENGINE = ['docker.io', 'containerd', 'runc', 'iptables', 'debootstrap'];
const ENGINE_LIBRARIES = [
  ['libip4tc2', 'libip6tc2', 'libxtables12', 'libnetfilter-conntrack3', 'libnfnetlink0', 'libnftnl11'],
  ['libmnl0'],
].flat();
const COMPOSE = ['docker-compose', 'python3-cached-property', 'python3-docker', 'python3-dockerpty'];
const COMPOSE_LIBRARIES = [
  ['python3-docopt', 'python3-dotenv', 'python3-jsonschema', 'python3-requests', 'python3-texttable'],
  ['python3-websocket', 'python3-attr', 'python3-pyrsistent', 'python3-certifi', 'python3-idna'],
  ['python3-charset-normalizer', 'python3-urllib3', 'python3-chardet', 'python3-yaml', 'python3-distro'],
  ['python3-six', 'python3-pkg-resources'],
].flat();

async function unpackedDocker(folder: string): Promise<string> {
  const tree = join(folder, 'docker');
  if (
    await access(tree).then(
      () => true,
      () => false,
    )
  )
    return tree;
  const workspace = new Workspace(process.env);
  try {
    const draft = await workspace.folder(folder);
    const files = join(draft, 'files');
    await mkdir(files);
    const names = [...ENGINE, ...ENGINE_LIBRARIES, ...COMPOSE, ...COMPOSE_LIBRARIES];
    const apt = new Apt(workspace, draft, process.env, progressOn(process.stderr));
    await apt.newest(['docker\\.io']);
    await apt.download(names, files);
    await apt.unpack(files, names, join(draft, 'tree'));
    // Creates links that Debian's "alternatives" would create during an installation.
    for (const name of ['iptables', 'ip6tables'])
      await symlink('xtables-nft-multi', join(draft, 'tree/usr/sbin', name));
    await rename(join(draft, 'tree'), tree);
    return tree;
  } finally {
    await workspace.remove();
  }
}

const STARTS_WITHIN_MS = 30_000;

export interface Engine {
  /** True for an engine from Debian packages, which cannot pull images or resolve external names. */
  readonly own: boolean;
  docker(args: readonly string[], options?: { timeout?: number; cwd?: string }): Promise<CommandResult>;
  compose(args: readonly string[]): Promise<CommandResult>;
  readonly tree: string | undefined;
  stop(): Promise<void>;
}

/**
 * Uses the installed engine. If there is none, starts one as root on Debian, with a separate socket and without
 * firewall changes.
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
    // Extensions for the name resolution rules in a container's network. They do not change the machine.
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
      // A remaining mount of the engine's networks would prevent the removal of the folder.
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
