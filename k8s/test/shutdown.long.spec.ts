import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { appSettings } from '#test/support/app-settings.js';
import { freePort } from '#local/servers/free-port.js';
import { NODE_ARGUMENTS } from '#test/support/built.js';
import { type Fixture, openFixture, REDIRECT_URI } from '#test/support/fixture.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { until } from '#test/support/until.js';

const GET = 'GET /.well-known/oauth-authorization-server HTTP/1.1\r\nHost: base.example.com\r\n\r\n';
const KEYS = randomBytes(32).toString('base64url');

describe('a process in its container environment', () => {
  let services: Isolated;
  let fixture: Fixture;
  let env: Record<string, string>;
  const running: ChildProcess[] = [];

  beforeAll(async () => {
    services = await isolate();
    fixture = await openFixture(services, KEYS);
    env = {
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      ...appSettings(services),
      API_URL: 'https://api.example.com',
      TOKEN_KEYS: KEYS,
    };
  });
  afterEach(() => {
    for (const child of running.splice(0)) child.kill('SIGKILL');
  });
  afterAll(async () => {
    await fixture.close();
    await services.close();
  });

  /** Starts node without a shell or guard, so that node receives the signals directly. */
  async function start(app: string, more: Record<string, string> = {}) {
    const [port, internal] = [await freePort(), await freePort()];
    const child = spawn(process.execPath, [...NODE_ARGUMENTS, `dist/apps/${app}.cjs`], {
      env: { ...env, ...more, PORT: String(port), INTERNAL_PORT: String(internal) },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    running.push(child);
    const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
    return { child, ended, port, internal: `http://127.0.0.1:${internal}` };
  }

  const answered = (url: string) => until(`${url} is answered`, 60_000, async () => (await fetch(url)).ok);

  // The token app, which closes more connections, is tested below.
  it.each(['authorize', 'resource'])('exits with 0 on SIGTERM: %s', async (app) => {
    const { child, ended, internal } = await start(app);
    await answered(`${internal}/readyz`);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  it('exits with 0 on SIGTERM while it waits for its database', async () => {
    const DATABASE_URL = `postgres://nobody@127.0.0.1:${await freePort()}/nowhere`;
    const { child, ended, internal } = await start('token', { DATABASE_URL });
    await answered(`${internal}/healthz`);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  it('becomes unready on SIGTERM, and completes a request before it exits', async () => {
    const { child, ended, internal, port } = await start('token');
    await answered(`${internal}/readyz`);
    const client = await fixture.client();
    const code = await fixture.code(client.client_id, await fixture.user());
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT_URI,
      ...client,
    }).toString();
    const idle = await open(port);
    idle.write(GET);
    await once(idle, 'data');
    const busy = await open(port);
    busy.write(
      'POST /api/auth/oauth/token HTTP/1.1\r\nHost: base.example.com\r\n' +
        'Content-Type: application/x-www-form-urlencoded\r\n' +
        `Content-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
    );
    // The app has accepted the request and waits for its body.
    expect(String((await once(busy, 'data'))[0])).toMatch(/^HTTP\/1\.1 100/);
    const closed = once(idle, 'close');
    child.kill('SIGTERM');
    // An idle keep-alive connection closes as soon as the shutdown begins.
    await closed;
    const ready = await fetch(`${internal}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([
      503,
      { status: 'not ready', missing: ['stop'], reasons: expect.any(Object) },
    ]);
    const answer = collect(busy);
    busy.write(body);
    expect(await answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*"access_token":"sat_/);
    // The app sets this header, because Fastify sets it only for requests that arrive during the shutdown.
    expect(await answer).toMatch(/^connection: close\r$/im);
    expect(await ended).toEqual([0, null]);
  });

  // @reliability graceful-shutdown
  it('completes requests that arrive on kept connections when the shutdown begins', async () => {
    // Retries, because on a busy machine the test may notice the shutdown too late.
    for (let attempt = 1; !(await completesAllRequests()); attempt++) expect(attempt).toBeLessThan(5);
  });

  /** Returns true if the process answered every request during the shutdown with Connection: close. */
  async function completesAllRequests(): Promise<boolean> {
    const { child, ended, internal, port } = await start('token');
    await answered(`${internal}/readyz`);
    const kept = await Promise.all(Array.from({ length: 10 }, () => open(port)));
    for (const connection of kept) {
      connection.write(GET);
      await once(connection, 'data');
    }
    child.kill('SIGTERM');
    while ((await fetch(`${internal}/readyz`)).status === 200);
    // The process is stopped while the requests arrive, and reads them when it continues.
    child.kill('SIGSTOP');
    const answers = kept.map((connection) => collect(connection).catch(String));
    await Promise.all(kept.map((connection) => new Promise((sent) => connection.write(GET, sent))));
    child.kill('SIGCONT');
    const all = await Promise.all(answers);
    expect(await ended).toEqual([0, null]);
    return all.every(
      (answer) => answer.startsWith('HTTP/1.1 200 ') && /^connection: close\r$/im.test(answer),
    );
  }

  it('aborts a request that does not arrive in time after SIGTERM', async () => {
    const { child, ended, internal, port } = await start('token');
    await answered(`${internal}/readyz`);
    const stalled = await open(port);
    stalled.write(
      'POST /api/auth/oauth/token HTTP/1.1\r\nHost: base.example.com\r\nContent-Length: 5\r\n\r\na',
    );
    const silent = await open(port);
    const cut = Promise.all([collect(stalled).catch(() => ''), collect(silent).catch(() => '')]);
    const ready = async (): Promise<number> => (await fetch(`${internal}/readyz`)).status;
    child.kill('SIGTERM');
    while ((await ready()) === 200);
    expect(await ready()).toBe(503);
    await cut;
    expect(await ended).toEqual([0, null]);
  });

  async function open(port: number): Promise<Socket> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  }

  async function collect(socket: Socket): Promise<string> {
    let all = '';
    for await (const chunk of socket) all += String(chunk);
    return all;
  }
});
