import type { User } from '#users/user.js';
import { type AppProcess, startApp } from '#test/support/app-process.js';
import { type Fixture, openFixture, REDIRECT_URI, type TestClient } from '#test/support/fixture.js';
import { becomesRefused, statusOfToken, type Pair } from '#test/support/tokens.js';
import {
  authorizeAddress,
  type AuthorizeApp,
  redirectParameters,
  startAuthorizeApp,
} from '../support/start-authorize-app.js';
import type { Browser } from '#test/support/browser.js';

const ROUNDS = 10;

let app: AuthorizeApp;
let token: AppProcess;
let resources: AppProcess[];
let fixture: Fixture;
let client: TestClient;
let user: User;
let browser: Browser;

beforeAll(async () => {
  app = await startAuthorizeApp();
  const { databaseUrl, redisUrl, natsUrl } = app.services;
  const { AUTH_URL, BASE_URL, TOKEN_KEYS } = app.configuration;
  fixture = await openFixture(app.services, TOKEN_KEYS);
  const shared = { BASE_URL, NATS_URL: natsUrl, LOG_LEVEL: 'fatal' };
  const resource = { ...shared, API_URL: 'https://api.example.com' };
  const directories = { AUTH_URL, TOKEN_KEYS, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl };
  [token, ...resources] = await Promise.all([
    startApp('token', { ...shared, ...directories }),
    startApp('resource', resource),
    startApp('resource', resource),
  ]);
  client = await fixture.client();
  user = await app.user();
  browser = await app.loggedIn(user);
});

afterAll(async () => {
  await Promise.all([token, ...resources].map((process_) => process_.stop()));
  await fixture.close();
  await app.close();
});

async function allow(): Promise<string> {
  const address = authorizeAddress({
    client_id: client.client_id,
    redirect_uri: REDIRECT_URI,
    state: 's',
    prompt: 'consent',
  });
  const page = await browser.get(address);
  const answer = await browser.submit(page, { decision: 'allow' }, '/auth/oauth2/authorize');
  return redirectParameters(answer.headers['location'])['code'] ?? '';
}

const ask = (fields: Record<string, string>) =>
  fetch(`${token.url}/api/auth/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...client, ...fields }),
  });
const redeem = (code: string) => ask({ grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI });
const pair = async () => (await (await redeem(await allow())).json()) as Pair;

const me = (at: AppProcess, accessToken: string) => statusOfToken(at.url, accessToken);

/** Submits a confirmation page. @returns milliseconds until every API rejects the token */
async function clickUntilRefused(path: string, accessToken: string): Promise<number> {
  const page = await browser.get(path);
  for (const resource of resources) expect(await me(resource, accessToken)).toBe(200);
  const start = performance.now();
  expect((await browser.submit(page, {}, '/auth/apps/revoke')).status).toBe(303);
  await Promise.all(resources.map(({ url }) => becomesRefused(url, accessToken)));
  return performance.now() - start;
}

const revokePage = () => `/auth/apps/revoke?client_id=${client.client_id}`;

it('revoking an application makes every API reject its cached tokens', async () => {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { access_token } = await pair();
    times.push(await clickUntilRefused(round % 2 ? revokePage() : '/auth/apps/revoke-all', access_token));
  }
  times.sort((a, b) => a - b);
  const [median = NaN, slowest = NaN] = [ROUNDS / 2, ROUNDS - 1].map((at) => times[at]);
  process.stderr.write(
    `click → refused by every API, ${ROUNDS} times: median ${median.toFixed(1)} ms, slowest ${slowest.toFixed(1)} ms\n`,
  );
});

it('revoking an application ends all its refresh tokens, its other grants and its unused codes', async () => {
  const [first, second] = [await pair(), await pair()];
  const code = await allow();
  await clickUntilRefused(revokePage(), first.access_token);
  for (const resource of resources) expect(await me(resource, second.access_token)).toBe(401);
  for (const { refresh_token } of [first, second]) {
    const answer = await ask({ grant_type: 'refresh_token', refresh_token });
    expect(await answer.json()).toMatchObject({ error: 'invalid_grant' });
  }
  expect(await (await redeem(code)).json()).toMatchObject({ error: 'invalid_grant' });
});

it('logging out everywhere does not end grants of applications', async () => {
  const { access_token } = await pair();
  await browser.submit(await browser.get('/auth/'), {}, '/auth/logout-everywhere');
  for (const resource of resources) expect(await me(resource, access_token)).toBe(200);
  browser = await app.loggedIn(user);
});

it('the revocation broadcast contains only the grant id', async () => {
  const heard: unknown[] = [];
  const stop = fixture.hear('oauth.grant.revoked', (event) => heard.push(event));
  await fixture.settled();
  const { access_token } = await pair();
  await browser.submit(await browser.get(revokePage()), {}, '/auth/apps/revoke');
  await fixture.settled();
  stop();
  expect(heard).toContainEqual({ grant_id: fixture.grantIdOf(access_token) });
  for (const event of heard) expect(Object.keys(event as object)).toEqual(['grant_id']);
});
