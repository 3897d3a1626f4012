import type { Client } from '#clients/client.js';
import { until } from '#test/support/until.js';
import { authorizeAddress, REDIRECT_URI, useProxiedAuthorizeApp } from '../support/start-authorize-app.js';
import type { Browser } from '#test/support/browser.js';
import { stateOf } from '../support/connected-apps.js';

const { app, proxies } = useProxiedAuthorizeApp();
const scopes = ['profile:read', 'bookings:read'];
const TICKED = { 'allow:bookings:read': 'yes' };
let calendar: Client;
let browser: Browser;
let wide: string;

beforeEach(async () => {
  calendar = await app.client({ scopes, optionalScopes: ['bookings:read'] });
  browser = await app.loggedIn(await app.user());
  expect((await allow(TICKED)).status).toBe(303);
  wide = (await grants())[0]?.id ?? '';
  expect(await stateOf(app, wide)).toEqual([false, 'pending']);
});

afterEach(() => {
  proxies.postgres.onStatement = () => undefined;
  proxies.postgres.release();
  proxies.postgres.reconnect();
  proxies.redis.reconnect();
});

const address = (prompt?: string) =>
  authorizeAddress({
    client_id: calendar.clientId,
    redirect_uri: REDIRECT_URI,
    state: 's',
    scope: scopes.join(' '),
    prompt,
  });

async function allow(ticked: Record<string, string> = {}) {
  const page = await browser.get(address('consent'));
  return browser.submit(page, { ...ticked, decision: 'allow' }, '/auth/oauth2/authorize');
}

const grants = () =>
  app.sql<{ id: string; scope: string; live: boolean }>(
    'SELECT id, scope, revoked_at IS NULL AS live FROM grants WHERE client_id = $1 ORDER BY created_at',
    [calendar.clientId],
  );

const isServed = () =>
  until('the page is served', 60_000, async () => (await browser.get(address('consent'))).status === 200);

function loseCommitResponse(): Promise<void> {
  return new Promise((resolve, reject) => {
    proxies.postgres.onStatement = (sql) => {
      if (sql !== 'COMMIT') return;
      proxies.postgres.onStatement = () => undefined;
      proxies.postgres.hold();
      until('the grant is committed', 60_000, async () => (await grants()).length === 2)
        .then(() => proxies.postgres.disconnect())
        .then(resolve, reject);
    };
  });
}

function cutRedis(): Promise<void> {
  return new Promise((resolve) => {
    proxies.postgres.onStatement = (sql) => {
      if (!sql.includes('INSERT INTO grants')) return;
      proxies.redis.disconnect();
      resolve();
    };
  });
}

describe('a decision that declines a scope', () => {
  it.each([
    ['the response to its commit was lost', loseCommitResponse],
    ['Redis was unavailable', cutRedis],
  ])('ends older grants when it is repeated after a failure: %s', async (_what, fail) => {
    const failed = fail();
    expect((await allow()).status).toBe(503);
    await failed;
    proxies.postgres.onStatement = () => undefined;
    proxies.postgres.release();
    proxies.postgres.reconnect();
    proxies.redis.reconnect();
    await isServed();
    expect((await allow()).status).toBe(303);
    expect(await stateOf(app, wide)).toEqual([true, 'revoked']);
    const live = (await grants()).filter((grant) => grant.live);
    expect(new Set(live.map(({ scope }) => scope))).toEqual(new Set(['profile:read']));
  });

  it('ends older grants even if its response is lost and the application repeats the request', async () => {
    const lost = loseCommitResponse();
    expect((await allow()).status).toBe(503);
    await lost;
    proxies.postgres.release();
    proxies.postgres.reconnect();
    await isServed();
    const silent = await browser.get(address());
    expect(silent.headers['location']).toContain('code=');
    expect((await stateOf(app, wide))[0]).toBe(true);
  });
});
