import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { resolve } from 'node:path';
import { NODE_ARGUMENTS } from '#test/support/built.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { freePort } from '#local/servers/free-port.js';
import { until } from '#test/support/until.js';

const MAIN = resolve('dist/apps/authorize.cjs');
const PATIENCE_MS = 60_000;

interface Run {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<unknown>;
}

function run(env: NodeJS.ProcessEnv): Run {
  const child = spawn(process.execPath, [...NODE_ARGUMENTS, MAIN], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return { child, output: () => output, ended: once(child, 'close') };
}

// @rfc 9207 2
it('the process does not start without its configuration, and lists every problem without values', async () => {
  const { child, output, ended } = run({ AUTH_URL: 'https://auth.example.com/', TOKEN_KEYS: 'secret-key' });
  await ended;
  expect(child.exitCode).toBe(1);
  for (const name of ['AUTH_URL', 'TOKEN_KEYS'])
    expect(output()).toMatch(new RegExp(`^  - ${name} must be`, 'm'));
  for (const name of ['BASE_URL', 'DATABASE_URL', 'REDIS_URL', 'NATS_URL'])
    expect(output()).toMatch(new RegExp(`^  - ${name} is missing: it must be`, 'm'));
  expect(output()).not.toContain('secret-key');
});

describe('the running process', () => {
  let services: Isolated;
  let process_: Run;
  let url: string;
  let internal: string;

  beforeAll(async () => {
    services = await isolate();
    const [port, internalPort] = await Promise.all([freePort(), freePort()]);
    url = `http://127.0.0.1:${port}`;
    internal = `http://127.0.0.1:${internalPort}`;
    process_ = run({
      HOST: '127.0.0.1',
      PORT: String(port),
      INTERNAL_PORT: String(internalPort),
      AUTH_URL: url,
      BASE_URL: 'https://base.example.com',
      DATABASE_URL: services.databaseUrl,
      REDIS_URL: services.redisUrl,
      NATS_URL: 'nats://user:secret-word@127.0.0.1:1',
      TOKEN_KEYS: randomBytes(32).toString('base64url'),
    });
    await until(
      'the app is ready',
      PATIENCE_MS,
      async () => (await fetch(`${internal}/readyz`)).status === 200,
    );
  });

  afterAll(async () => {
    process_.child.kill('SIGTERM');
    await process_.ended;
    await services.close();
  });

  it('logs one line for a rejected request, with the reference of the page and the failed check', async () => {
    const query = 'client_id=sc_nobody&redirect_uri=https://evil.example/&state=private-state';
    const page = await (await fetch(`${url}/auth/oauth2/authorize?${query}`)).text();
    const reference = /Reference: <code>([^<]+)</.exec(page)?.[1] ?? '';
    const lines = () =>
      process_
        .output()
        .split('\n')
        // The last line may be incomplete.
        .slice(0, -1)
        .filter((line) => line.includes(reference));
    await until('the app logs the request', PATIENCE_MS, () => lines().length > 0);
    expect(lines()).toHaveLength(1);
    expect(JSON.parse(lines()[0] ?? '')).toMatchObject({
      service: 'authorize',
      reference,
      error: 'invalid_request',
      check: 'client_id_unregistered',
      client_id: 'sc_nobody',
      req: { method: 'GET', path: '/auth/oauth2/authorize' },
      res: { statusCode: 400 },
    });
    expect(process_.output()).not.toContain('private-state');
  });

  // @rfc 6749 10.3 @rfc 9700 4.9.3
  it('does not log long paths, or credentials in the wrong parameter', async () => {
    const secret = `scs_${'s3cret-_'.repeat(5)}abc`;
    const token = `sat_${'t0ken-_x'.repeat(10)}abcd`;
    await fetch(`${url}/auth/oauth2/authorize?client_id=${secret}`);
    await fetch(`${url}/auth/${token}/${'p'.repeat(10_000)}`);
    const encoded = (at: number) =>
      `${token.slice(0, at)}%${token.charCodeAt(at).toString(16)}${token.slice(at + 1)}`;
    await fetch(`${url}/auth/encoded/${encoded(1)}`);
    await fetch(`${url}/auth/encoded/${encoded(40)}`);
    await until('the app logs the path', PATIENCE_MS, () =>
      /\/auth\/sat_[^]*encoded[^]*encoded/.test(process_.output()),
    );
    expect(process_.output()).toContain('"client_id":"scs_…"');
    for (const part of ['s3cret', 't0ken', 'p'.repeat(300)]) expect(process_.output()).not.toContain(part);
  });

  it('logs only the path of a request target, without query and fragment (RFC 9112 3.2.1)', async () => {
    // No client library sends a fragment.
    await send(`GET /auth/login#state=in-the-fragment?state=in-the-query HTTP/1.1\r\nHost: localhost\r\n`);
    await send(`GET /auth/mark-of-the-end HTTP/1.1\r\nHost: localhost\r\n`);
    await until('the app logs the last request', PATIENCE_MS, () =>
      process_.output().includes('mark-of-the-end'),
    );
    expect(process_.output()).toContain('"path":"/auth/login"');
    expect(process_.output()).not.toMatch(/in-the-(fragment|query)/);
  });

  it('logs at most 200 characters of a foreign Host', async () => {
    const host = `mark-of-the-host${'h'.repeat(12_000)}`;
    const head = `POST /auth/login HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\n`;
    expect(await send(head)).toMatch(/^HTTP\/1\.1 403 /);
    await until('the app logs the request', PATIENCE_MS, () =>
      process_.output().includes('mark-of-the-host'),
    );
    const line = process_
      .output()
      .split('\n')
      .find((text) => text.includes('mark-of-the-host'));
    expect(JSON.parse(line ?? '')).toMatchObject({ opened: `http://${host}`.slice(0, 200) });
    expect(line?.length).toBeLessThan(1_000);
  });

  it('does not log the password, cookie or user name of a failed login', async () => {
    const login = await fetch(`${url}/auth/login`);
    const [cookie = ''] = (login.headers.get('set-cookie') ?? '').split(';');
    const token = /name="csrf_token" value="([^"]+)"/.exec(await login.text())?.[1] ?? '';
    const answer = await fetch(`${url}/auth/login?x=1`, {
      method: 'POST',
      headers: { cookie },
      body: new URLSearchParams({ csrf_token: token, username: 'typed-name', password: 'typed-password' }),
    });
    expect(answer.status).toBe(401);
    await until('the app logs the failed check', PATIENCE_MS, () =>
      process_.output().includes('"check":"user_unknown"'),
    );
    for (const secret of ['typed-name', 'typed-password', token, cookie.split('=')[1] ?? ''])
      expect(process_.output()).not.toContain(secret);
  });

  it('logs an aborted request body as a client error, not as an outage', async () => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const form = 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 9\r\n';
    // The 100 response shows that the app waits for the body.
    socket.write(`POST /auth/language HTTP/1.1\r\nHost: localhost\r\n${form}Expect: 100-continue\r\n\r\n`);
    await once(socket, 'data');
    socket.destroy();
    await until('the app logs the request', PATIENCE_MS, () => process_.output().includes('not delivered'));
    const line = process_
      .output()
      .split('\n')
      .find((text) => text.includes('not delivered'));
    expect(JSON.parse(line ?? '')).toMatchObject({
      error: 'invalid_request',
      req: { path: '/auth/language' },
      res: { statusCode: 400 },
    });
  });

  it('is ready without NATS, logs the outage without the password of NATS, and exits cleanly', async () => {
    await until('the app logs the outage', PATIENCE_MS, () =>
      process_.output().includes('revocations will not be broadcast'),
    );
    expect((await fetch(`${internal}/readyz`)).status).toBe(200);
    process_.child.kill('SIGTERM');
    await process_.ended;
    expect(process_.child.exitCode).toBe(0);
    expect(process_.output()).not.toContain('secret-word');
  });

  async function send(head: string): Promise<string> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.write(`${head}Connection: close\r\n\r\n`);
    let answer = '';
    for await (const part of socket) answer += String(part);
    return answer;
  }
});
