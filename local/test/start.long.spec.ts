import { access, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Redis } from 'ioredis';
import { type SeenProcess, survivorsOf } from '#test/support/process-tree.js';
import { until } from '#test/support/until.js';
import { isolatedEnvironment, type Run, StartedProduct } from '#test/end-to-end/started-product.js';

const WITHIN = 60_000;

// The order matters: each test continues with the data of the previous one.
describe('npm start', () => {
  let env: Record<string, string>;
  let product: StartedProduct;
  let run: Run;
  let all: SeenProcess[];

  beforeAll(async () => {
    env = await isolatedEnvironment();
  });

  afterAll(async () => {
    await product.kill('SIGKILL');
    await survivorsOf(all, WITHIN);
    await rm(env['LOCAL_DIR'] ?? '', { recursive: true, force: true });
  });

  async function start(): Promise<void> {
    product = new StartedProduct(env);
    run = await product.ready();
    all = await product.processes();
  }

  /** Resolves as soon as every process exists, so that a test can kill the product during its start. */
  async function begin(): Promise<void> {
    product = new StartedProduct(env, { npm: true });
    all = await product.allStarted();
  }

  const nothingIsLeft = async (): Promise<void> => {
    expect(await survivorsOf(all, WITHIN)).toEqual([]);
    await expect(access(product.runFile)).rejects.toThrow('ENOENT');
  };
  const pidOf = (part: string): number => {
    const found = all.find(({ command }) => command.includes(part));
    if (!found) throw new Error(`nothing matches ${part}`);
    return found.pid;
  };

  it('prints its addresses and credentials, and writes them to a file that only its owner can read', async () => {
    await start();
    expect((await stat(product.runFile)).mode & 0o777).toBe(0o600);
    expect(run).toEqual({
      auth_url: `http://localhost:${env['AUTHORIZE_PORT']}`,
      base_url: `http://localhost:${env['TOKEN_PORT']}`,
      api_url: `http://localhost:${env['RESOURCE_PORT']}`,
      other_api_urls: '',
      console_url: `http://localhost:${env['CONSOLE_PORT']}`,
      developers_url: `http://localhost:${env['DEVELOPERS_PORT']}`,
      internal: {
        authorize: expect.stringMatching(/^http:/),
        token: expect.stringMatching(/^http:/),
        resource: expect.stringMatching(/^http:/),
        console: expect.stringMatching(/^http:/),
        developers: expect.stringMatching(/^http:/),
      },
      client: {
        client_id: expect.stringMatching(/^sc_/),
        client_secret: expect.stringMatching(/^scs_/),
        redirect_uri: `http://localhost:${env['DEMO_PORT']}/callback`,
      },
      user: { email: 'ada@example.com', password: expect.stringMatching(/^\w{20}$/) },
      database_url: expect.stringMatching(/^postgres:\/\//),
      database_schema: 'oauth',
      redis_url: expect.stringMatching(/^redis:\/\//),
      nats_url: expect.stringMatching(/^nats:\/\//),
      token_keys: expect.stringMatching(/^[\w-]{43}$/),
      id_token_keys: expect.stringMatching(/^\{"keys":\[/),
      outside_fetch_allow: 'localhost,127.0.0.1,::1',
      scopes_file: resolve('scopes.yaml'),
    });
    for (const shown of [
      run.auth_url,
      run.base_url,
      run.api_url,
      ...Object.values(run.internal),
      run.client.client_secret,
      run.user.password,
    ]) {
      expect(product.output).toContain(shown);
    }
    const ports = [run.database_url, run.redis_url, run.nats_url].map((url) => new URL(url).port);
    for (const standard of ['5432', '6379', '4222']) expect(ports).not.toContain(standard);
  });

  it('writes mails to a folder that only its owner can read', async () => {
    const folder = join(env['LOCAL_DIR'] ?? '', 'mail');
    expect(product.output).toContain('one file for each mail');
    await until('the list of open requests', WITHIN, async () => (await readdir(folder)).length > 0);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    const [file = ''] = await readdir(folder);
    expect(file).toMatch(/^digest-[\w-]+\.txt$/);
    expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(folder, file), 'utf8')).toMatch(
      /^To: ada@example[.]com\nSubject: .*1 open request/,
    );
  });

  it('serves its metadata and Redis at the announced addresses', async () => {
    const metadata = await fetch(`${run.base_url}/.well-known/oauth-authorization-server`);
    expect(await metadata.json()).toMatchObject({ issuer: run.base_url });
    const redis = new Redis(run.redis_url);
    await redis.set('kept', 'yes');
    redis.disconnect();
  });

  it('accepts its API as the resource of authorization and token requests (RFC 8707)', async () => {
    const { client_id, redirect_uri } = run.client;
    const parameters = new URLSearchParams({ client_id, redirect_uri, state: 's', resource: run.api_url });
    const url = `${run.auth_url}/auth/oauth2/authorize?${parameters.toString()}`;
    const answer = await fetch(url, { redirect: 'manual' });
    expect(answer.headers.get('location')).toMatch(/^\/auth\/login\?/);
    const token = { grant_type: 'refresh_token', refresh_token: 'x', ...run.client, resource: run.api_url };
    const body = new URLSearchParams(token);
    const refused = await fetch(`${run.base_url}/api/auth/oauth/token`, { method: 'POST', body });
    expect(await refused.json()).toMatchObject({ error: 'invalid_grant' });
  });

  it.each(['authorize', 'token', 'resource', 'console', 'developers'] as const)(
    'announces local URLs for the health and metrics of %s',
    async (name) => {
      const url = run.internal[name];
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      expect(await (await fetch(`${url}/readyz`)).json()).toEqual({ status: 'ready' });
      expect(await (await fetch(`${url}/metrics`)).text()).toContain(`service="${name}"`);
    },
  );

  it('keeps its secrets in files that only their owner can read', async () => {
    const directory = env['LOCAL_DIR'] ?? '';
    const secrets = (await readdir(directory)).filter((name) =>
      /^(token-keys|id-token-keys|demo-|run)/.test(name),
    );
    expect(secrets).toHaveLength(6);
    for (const name of secrets) expect((await stat(join(directory, name))).mode & 0o777).toBe(0o600);
  });

  it('refuses to run twice, and names the running process', async () => {
    const second = new StartedProduct(env);
    expect(await second.exit).toBe(1);
    expect(second.output).toContain(`is already running here (process ${product.pid}: ${run.auth_url}`);
    await access(product.runFile);
  });

  it('leaves no process when it is killed, and can start again immediately on the same data', async () => {
    const before = { run, all };
    await product.kill('SIGKILL');
    await start();
    expect(await survivorsOf(before.all, WITHIN)).toEqual([]);
    expect(run.client).toEqual(before.run.client);
    expect(run.user).toEqual(before.run.user);
    const redis = new Redis(run.redis_url);
    expect(await redis.get('kept')).toBe('yes');
    redis.disconnect();
  });

  it('exits cleanly when both the terminal and npm signal Ctrl-C', async () => {
    void product.kill('SIGINT');
    expect(await product.kill('SIGINT')).toBe(0);
    await nothingIsLeft();
  });

  it('ignores the lock of a process that has ended, even if the process id is in use again', async () => {
    await writeFile(
      join(env['LOCAL_DIR'] ?? '', 'lock'),
      JSON.stringify({ pid: process.pid, start: 'another' }),
    );
    await start();
  });

  it('exits with an error when one of its apps is killed', async () => {
    process.kill(pidOf('apps/token.cjs'), 'SIGKILL');
    expect(await product.exit).toBe(1);
    expect(product.output).toContain('token ended: SIGKILL');
    await nothingIsLeft();
  });

  it('leaves no process when npm is killed', async () => {
    await begin();
    await product.kill('SIGKILL');
    await nothingIsLeft();
  });

  it('leaves no process when npm and the supervisor are killed together', async () => {
    await begin();
    process.kill(
      all.find(({ command }) => command.includes('local/start.js') && !command.includes(' -c '))?.pid ?? 0,
      'SIGKILL',
    );
    await product.kill('SIGKILL');
    await nothingIsLeft();
  });

  it('exits with an error when one of its servers is killed', async () => {
    await start();
    process.kill(pidOf('postgres'), 'SIGKILL');
    expect(await product.exit).toBe(1);
    expect(product.output).toContain('PostgreSQL ended: SIGKILL');
    await nothingIsLeft();
  });

  it('reports an app that cannot start, with the end of its log', async () => {
    product = new StartedProduct({ ...env, CODE_LIFETIME: 'soon' });
    expect(await product.exit).toBe(1);
    expect(product.output).toMatch(/did not start \(it ended: exit code 1\).*CODE_LIFETIME/s);
  });
});
