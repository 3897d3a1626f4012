import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CommandResult, runCommand } from '#local/servers/run-command.js';
import { freePort } from '#local/servers/free-port.js';
import { ROOT } from '../settings.js';
import { type Engine, startEngine } from './engine.js';
import { makeStandIns } from './stand-ins.js';

const IMAGE = 'scheduling-oauth:0.1.0';
const APPS = ['authorize', 'token', 'resource'] as const;
const REDIRECT_URI = 'http://localhost:3999/callback';

describe('the containers of docker-compose.yml', () => {
  let engine: Engine;
  let folder: string;

  beforeAll(async () => {
    engine = await startEngine();
    folder = await mkdtemp(join(tmpdir(), 'containers-'));
    if (engine.own) await makeStandIns(engine);
    const network = engine.own ? ['--network', 'host'] : [];
    await must(engine.docker(['build', ...network, '-t', IMAGE, ROOT]));
  }, 1_200_000);

  afterAll(async () => {
    await engine?.compose(['down', '--volumes', '--timeout', '5']);
    await engine?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  }, 120_000);

  async function must(command: Promise<CommandResult>): Promise<string> {
    const { code, stdout, stderr } = await command;
    if (code !== 0) throw new Error(`${stdout.slice(-3_000)}\n${stderr.slice(-3_000)}`);
    return stdout.trim();
  }

  const inImage = (script: string): Promise<string> =>
    must(
      engine.docker([
        'run',
        '--rm',
        '--read-only',
        '--network',
        'none',
        '--entrypoint',
        'sh',
        IMAGE,
        '-c',
        script,
      ]),
    );

  it('contain no files for builds or tests', async () => {
    const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { dev?: boolean; devOptional?: boolean }>;
    };
    const builds = Object.entries(packages).filter(([, { dev, devOptional }]) => dev || devOptional);
    const names = builds.flatMap(([path]) => /^node_modules\/([^@/][^/]*)$/.exec(path)?.[1] ?? []);
    expect(names).toContain('typescript');
    expect(await inImage('id -u; id -g; pwd')).toBe('10001\n10001\n/app');
    const found = (await inImage('ls dist dist/libs dist/apps; ls node_modules')).split('\n');
    for (const name of ['dev', 'testing', ...names]) expect(found).not.toContain(name);
    expect(found).toEqual(expect.arrayContaining(['authorize', 'token', 'resource', 'operator', 'fastify']));
    expect(
      await inImage('command -v npm npx yarn; find / -xdev -name "*.spec.*" -path "/app/dist/*"; true'),
    ).toBe('');
    expect(await inImage('touch /app/x 2>&1; true')).toMatch(/Read-only/);
    expect(await inImage('operator --help')).toContain('migrate');
  }, 60_000);

  it('start the resource app within 2 s', async () => {
    const [port, internal] = [await freePort(), await freePort()];
    const variables = {
      HOST: '127.0.0.1',
      PORT: port,
      INTERNAL_PORT: internal,
      BASE_URL: 'https://localhost:8442',
      API_URL: 'https://localhost:8443',
      NATS_URL: 'nats://127.0.0.1:9',
    };
    const env = Object.entries(variables).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    const flags = ['run', '-d', '--read-only', '--network', 'host', ...env];
    const id = await must(engine.docker([...flags, IMAGE, 'dist/apps/resource.cjs']));
    try {
      const alive = (): Promise<boolean> =>
        fetch(`http://127.0.0.1:${internal}/healthz`).then(
          ({ ok }) => ok,
          () => false,
        );
      const inspected = await must(engine.docker(['inspect', '-f', '{{.State.StartedAt}}', id]));
      for (const end = Date.now() + 20_000; !(await alive()) && Date.now() < end; await sleep(20));
      const took = Date.now() - Date.parse(inspected);
      process.stderr.write(`alive after ${took} ms\n`);
      expect(took).toBeLessThan(2_000);
    } finally {
      await must(engine.docker(['stop', '-t', '10', id]));
      const { ExitCode } = JSON.parse(
        await must(engine.docker(['inspect', '-f', '{{json .State}}', id])),
      ) as {
        ExitCode: number;
      };
      await engine.docker(['rm', '-f', id]);
      expect(ExitCode).toBe(0);
    }
  }, 60_000);

  it('start in order and run the demo through the ingress', async () => {
    await must(engine.compose(['config', '-q']));
    await must(engine.compose(['up', '-d']));
    await Promise.all(['postgres', 'redis', 'nats', ...APPS, 'ingress'].map(healthy));
    const run = ['run', '--rm', ...(engine.own ? [] : ['-T']), 'operator'];
    const registered = await must(
      engine.compose([
        ...run,
        'client',
        'create',
        '--name',
        'Demo',
        '--redirect-uri',
        REDIRECT_URI,
        '--json',
      ]),
    );
    const account = ['--email', 'ada@example.com', '--username', 'ada', '--name', 'Ada', '--json'];
    const user = JSON.parse(await must(engine.compose([...run, 'user', 'create', ...account]))) as {
      email: string;
      password: string;
    };
    const { client_id, client_secret } = JSON.parse(registered) as Record<string, string>;
    const product = {
      auth_url: 'https://localhost:8441',
      base_url: 'https://localhost:8442',
      api_url: 'https://localhost:8443',
      client: { client_id, client_secret, redirect_uri: REDIRECT_URI },
      user: { email: 'ada@example.com', password: user.password },
    };
    await writeFile(join(folder, 'run.json'), JSON.stringify(product));
    const certificate = await must(engine.compose(['exec', '-T', 'ingress', 'cat', '/settings/tls.crt']));
    await writeFile(join(folder, 'tls.crt'), certificate);
    await passTheDemo();
  }, 300_000);

  it('include an ingress that finds recreated apps at new addresses', async () => {
    const before = await addresses();
    const order = [...APPS].sort((a, b) => (before[b] ?? '').localeCompare(before[a] ?? ''));
    await must(engine.compose(['rm', '-s', '-f', ...APPS]));
    for (const app of order) await must(engine.compose(['up', '-d', '--no-deps', app]));
    await Promise.all(APPS.map(healthy));
    expect(await addresses()).not.toEqual(before);
    await passTheDemo();
  }, 120_000);

  it('publish only the ports of the ingress, and are connected only to their networks', async () => {
    const ids = (await must(engine.compose(['ps', '-q']))).split('\n');
    const states = JSON.parse(await must(engine.docker(['inspect', ...ids]))) as Inspected[];
    const seen = Object.fromEntries(
      states.map(({ Config, NetworkSettings }) => [
        Config.Labels['com.docker.compose.service'],
        {
          ports: Object.values(NetworkSettings.Ports)
            .flatMap((found) => found ?? [])
            .map(({ HostPort }) => HostPort),
          networks: Object.keys(NetworkSettings.Networks)
            .map((name) => name.replace(/^.*_/, ''))
            .sort(),
        },
      ]),
    );
    expect(seen).toMatchObject({
      ingress: { ports: ['8441', '8442', '8443'], networks: ['front'] },
      authorize: { ports: [], networks: ['events', 'front', 'sql', 'state'] },
      token: { ports: [], networks: ['events', 'front', 'sql', 'state'] },
      resource: { ports: [], networks: ['events', 'front'] },
      postgres: { ports: [], networks: ['sql'] },
      redis: { ports: [], networks: ['state'] },
      nats: { ports: [], networks: ['events'] },
    });
  }, 60_000);

  it.each(APPS)(
    'finish their requests and exit with 0: %s',
    async (app) => {
      const id = await must(engine.compose(['ps', '-q', app]));
      await must(engine.docker(['stop', '-t', '20', id]));
      expect(await must(engine.docker(['inspect', '-f', '{{.State.ExitCode}}', id]))).toBe('0');
    },
    60_000,
  );

  async function passTheDemo(): Promise<void> {
    const demo = await runCommand(process.execPath, [join(ROOT, 'dist/local/demo.js')], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], LOCAL_DIR: folder, NODE_EXTRA_CA_CERTS: join(folder, 'tls.crt') },
    });
    expect(demo).toMatchObject({ code: 0, stderr: '' });
    expect(demo.stdout).toContain('✓ Every step succeeded.');
  }

  async function addresses(): Promise<Record<string, string>> {
    const found = APPS.map(async (app) => {
      const id = await must(engine.compose(['ps', '-q', app]));
      const networks = JSON.parse(
        await must(engine.docker(['inspect', '-f', '{{json .NetworkSettings.Networks}}', id])),
      ) as Record<string, { readonly IPAddress: string }>;
      return Object.entries(networks).find(([name]) => name.endsWith('front'))?.[1].IPAddress ?? '';
    });
    const all = await Promise.all(found);
    return Object.fromEntries(APPS.map((app, index) => [app, all[index] ?? '']));
  }

  async function healthy(service: string): Promise<void> {
    const id = await must(engine.compose(['ps', '-q', service]));
    for (const end = Date.now() + 120_000; ; await sleep(500)) {
      const state = await must(engine.docker(['inspect', '-f', '{{.State.Health.Status}}', id]));
      if (state === 'healthy') return;
      if (Date.now() < end) continue;
      const { stdout, stderr } = await engine.compose(['logs', '--tail', '30', service]);
      throw new Error(`${service} is ${state}:\n${stdout}${stderr}`);
    }
  }
});

interface Inspected {
  readonly Config: { readonly Labels: Readonly<Record<string, string>> };
  readonly NetworkSettings: {
    readonly Ports: Readonly<Record<string, readonly { readonly HostPort: string }[] | null>>;
    readonly Networks: Readonly<Record<string, unknown>>;
  };
}
