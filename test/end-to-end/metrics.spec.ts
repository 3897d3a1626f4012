import { createHash, randomBytes, randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { withDatabase } from '../support/test-database.js';
import type { AppName } from '../support/app-process.js';
import { type ProductProcesses, startProcesses } from './started-product.js';
import { ProductUser } from './running-product.js';

const USER_ID = 918_273_645;

let product: ProductProcesses;
let user: ProductUser;

beforeAll(async () => {
  product = await startProcesses({ LOG_LEVEL: 'fatal' });
  // An id that cannot occur in the metrics by chance.
  await withDatabase(product.databaseUrl, (admin) => admin.query('UPDATE users SET id = $1', [USER_ID]));
  user = new ProductUser(product.run);
  await useEverything();
});

afterAll(() => product.close());

async function useEverything(): Promise<void> {
  const code = await user.code();
  const { body: first } = await user.redeem(code);
  for (let i = 0; i < 3; i++) await user.me(first['access_token']);
  await user.me(undefined);
  await user.me(`sat_${randomBytes(63).toString('base64url')}`);
  const { body: second } = await user.refresh(first['refresh_token']);
  // A repetition in the millisecond of the refresh would be counted as the refresh itself.
  await sleep(5);
  await user.refresh(first['refresh_token']);
  const { body: third } = await user.refresh(second['refresh_token']);
  await user.refresh(first['refresh_token']);
  await user.me(third['access_token']);
  const replayedCode = await user.code();
  await user.redeem(replayedCode);
  await user.redeem(replayedCode);
  const { body: last } = await user.redeem(await user.code());
  await user.revoke(last['access_token']);
}

async function scrape(app: AppName): Promise<string> {
  const answer = await fetch(`${product.apps[app].internalUrl}/metrics`);
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  return answer.text();
}

/** Returns the sum of the series with these labels. */
async function value(app: AppName, name: string, labels: Readonly<Record<string, string>>): Promise<number> {
  const lines = (await scrape(app)).split('\n').filter((line) => line.startsWith(`${name}{`));
  const found = lines.filter((line) =>
    Object.entries(labels).every(([label, text]) => line.includes(`${label}="${text}"`)),
  );
  return found.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

describe('/metrics on the internal port', () => {
  it.each([
    ['authorize', 'created', 3],
    ['token', 'redeemed', 3],
    ['token', 'refreshed', 2],
    ['token', 'retried', 1],
    ['token', 'refresh_token_reused', 1],
    ['token', 'code_replayed', 1],
    ['token', 'revoked', 3],
    ['token', 'restored', 0],
  ] as const)('counts grant transitions of the %s app: %s', async (app, transition, count) => {
    expect(await value(app, 'oauth_grant_transitions_total', { transition })).toBe(count);
  });

  it.each([
    ['hit', 2],
    ['miss', 3],
  ])('counts token cache lookups of the resource app by result: %s', async (result, count) => {
    expect(await value('resource', 'oauth_cache_lookups_total', { cache: 'tokens', result })).toBe(count);
  });

  it.each([
    ['token', '/api/auth/oauth/token', 'invalid_grant', 2],
    ['resource', '/v2/me', 'invalid_token', 2],
    ['resource', '/v2/me', 'token_required', 1],
  ] as const)('counts errors of the %s app at %s by code: %s', async (app, http_route, error, count) => {
    expect(await value(app, 'oauth_errors_total', { http_route, error })).toBe(count);
  });

  it('measures the refusals of the client with the most of them', async () => {
    expect(await value('token', 'oauth_client_refusals', {})).toBe(2);
  });

  it('counts requests by route, method and status', async () => {
    const labels = { http_route: '/v2/me', http_request_method: 'GET' };
    const name = 'http_server_request_duration_seconds_count';
    expect(await value('resource', name, { ...labels, http_response_status_code: '200' })).toBe(3);
    expect(await value('resource', name, { ...labels, http_response_status_code: '401' })).toBe(3);
  });

  it('contains the same digest of the scopes file for every process', async () => {
    const sha256 = createHash('sha256')
      .update(await readFile('scopes.yaml'))
      .digest('hex');
    for (const app of ['authorize', 'token', 'resource'] as const)
      expect(await value(app, 'oauth_configuration_file_info', { variable: 'SCOPES_FILE', sha256 })).toBe(1);
  });

  it('counts operations of Redis, PostgreSQL and NATS', async () => {
    const database = 'db_client_operation_duration_seconds_count';
    const redis = { db_system_name: 'redis', db_operation_name: 'EVALSHA' };
    const postgres = { db_system_name: 'postgresql', db_operation_name: 'SELECT', outcome: 'ok' };
    expect(await value('token', database, redis)).toBeGreaterThan(5);
    expect(await value('token', database, postgres)).toBeGreaterThan(0);
    expect(await value('authorize', database, postgres)).toBeGreaterThan(3);
    const subject = { messaging_destination_name: 'oauth.token.introspect' };
    expect(await value('resource', 'messaging_client_operation_duration_seconds_count', subject)).toBe(3);
    expect(await value('token', 'messaging_process_duration_seconds_count', subject)).toBe(3);
  });

  it('counts a login with a wrong password by the failed check', async () => {
    const counted = () => value('authorize', 'oauth_login_refusals_total', { check: 'password_mismatch' });
    const before = await counted();
    const { run } = product;
    const wrong = { ...run, user: { ...run.user, password: 'wrong' } };
    await expect(new ProductUser(wrong).code()).rejects.toThrow();
    expect(await counted()).toBe(before + 1);
  });

  it('counts a throttled login by the counter that exceeded its limit', async () => {
    const { run } = product;
    const wrong = { ...run, user: { email: 'nobody@example.com', password: 'wrong' } };
    for (let i = 0; i < 7; i++) await expect(new ProductUser(wrong).code()).rejects.toThrow();
    const throttled = { check: 'login_throttled', counter: 'address_and_login' };
    expect(await value('authorize', 'oauth_login_refusals_total', throttled)).toBe(2);
    expect(await value('authorize', 'oauth_login_refusals_total', { check: 'user_unknown' })).toBe(5);
  });

  it.each(['authorize', 'token', 'resource'] as const)(
    'contains the dependencies and the event loop lag of the %s app',
    async (app) => {
      const text = await scrape(app);
      expect(text).toMatch(/^oauth_dependency_up\{dependency="(nats|postgres)",service="\w+"\} 1$/m);
      // The lag is NaN if nothing was sampled since the previous scrape.
      expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds\{service="\w+"\} ([\d.e-]+|NaN)$/im);
    },
  );
});

describe('/metrics of authorize, token and resource', () => {
  it('contains no credential, client, user, grant or address', async () => {
    const texts = await Promise.all((['authorize', 'token', 'resource'] as const).map(scrape));
    const grants = await withDatabase(product.databaseUrl, (admin) =>
      admin.query<{ id: string }>('SELECT id FROM grants'),
    );
    const seen = [...user.seen, String(USER_ID), ...grants.rows.map(({ id }) => id)];
    expect(seen.length).toBeGreaterThan(15);
    for (const secret of seen) for (const text of texts) expect(text).not.toContain(secret);
  });

  it('contains no series for unknown paths, methods and parameters', async () => {
    await makeThingsUp();
    const before = await seriesOf();
    await makeThingsUp();
    expect(await seriesOf()).toEqual(before);
  });
});

async function seriesOf(): Promise<string[]> {
  const texts = await Promise.all((['authorize', 'token', 'resource'] as const).map(scrape));
  const lines = texts.join('\n').split('\n');
  // Excludes values that change by themselves: the open handles of the runtime, and the writes of last use every 30 s.
  const own = lines
    .filter((line) => /^(http_|oauth_|db_|messaging_)/.test(line))
    .filter((line) => !/^db_.*db_operation_name="WITH"/.test(line));
  return own.map((line) => line.slice(0, line.lastIndexOf(' '))).sort();
}

async function makeThingsUp(): Promise<void> {
  const { auth_url, base_url, api_url } = product.run;
  const word = () => randomBytes(randomInt(3, 12)).toString('hex');
  for (let round = 0; round < 25; round++) {
    const method = ['PROPFIND', 'LOCK', 'MKCOL', 'DELETE', 'PUT'][round % 5] ?? 'GET';
    await Promise.all([
      send(auth_url, 'GET', `/${word()}/${word()}?${word()}=${word()}`),
      send(base_url, method, `/${word()}`),
      send(base_url, 'GET', `/%${word()}`),
      send(api_url, method, '/v2/me'),
      send(api_url, 'GET', '/v2/me', { authorization: `Bearer ${word()}` }),
      send(
        base_url,
        'POST',
        '/api/auth/oauth/token',
        { 'content-type': 'application/x-www-form-urlencoded' },
        `grant_type=${word()}&client_id=${word()}&client_secret=${word()}`,
      ),
    ]);
  }
}

function send(
  origin: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(origin, { method, path, headers }, (answer) => answer.resume().on('end', resolve));
    sent.on('error', reject).end(body);
  });
}
