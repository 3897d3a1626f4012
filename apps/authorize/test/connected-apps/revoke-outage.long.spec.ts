import { randomBytes } from 'node:crypto';
import type { Response } from 'supertest';
import type { Client } from '#clients/client.js';
import { RestartableNats } from '#test/support/restartable-nats.js';
import { until } from '#test/support/until.js';
import {
  type AuthorizeApp,
  startAuthorizeApp,
  useProxiedAuthorizeApp,
} from '../support/start-authorize-app.js';
import { type Browser, statusOf } from '#test/support/browser.js';
import { allow, confirmationPath, revoke, stateOf } from '../support/connected-apps.js';

describe('while NATS is unavailable', () => {
  let nats: RestartableNats;
  let app: AuthorizeApp;
  let browser: Browser;

  beforeAll(async () => {
    nats = await RestartableNats.start();
    // A revocation waits for NATS for half of the timeout.
    app = await startAuthorizeApp({ NATS_URL: nats.url, DEPENDENCY_TIMEOUT: 4 });
    browser = await app.loggedIn(await app.user());
  });

  afterAll(async () => {
    await app.close();
    await nats.stop();
  });

  const SOON =
    'Access for <bdi>Calendar</bdi> has been removed. It may take up to 30 seconds to take effect everywhere.';
  const IMMEDIATELY = '<bdi>Calendar</bdi> can no longer access your account.';

  async function confirmation(): Promise<string | undefined> {
    const client = await app.client({ name: 'Calendar' });
    const id = await allow(app, browser, client);
    const answer = await revoke(browser, client);
    expect(await stateOf(app, id)).toEqual([true, 'revoked']);
    return statusOf(await browser.follow(answer));
  }

  const becomes = async (words: string) => {
    for (const end = Date.now() + 60_000; (await confirmation()) !== words;)
      if (Date.now() > end) throw new Error(`the page never showed: ${words}`);
  };

  // @reliability nats-long
  it('a revocation succeeds, and the page announces a delay of up to 30 seconds', async () => {
    await becomes(IMMEDIATELY);
    await nats.kill();
    expect(await confirmation()).toBe(SOON);
    await nats.restart();
    await becomes(IMMEDIATELY);
  });

  it('a revocation succeeds while the NATS server hangs, and the page announces a delay', async () => {
    nats.sleep();
    // The response must arrive before NATS wakes.
    expect(await confirmation()).toBe(SOON);
    nats.wake();
    await becomes(IMMEDIATELY);
  });

  it('a revocation waits only once for a hanging NATS server, regardless of the number of grants', async () => {
    const client = await app.client({ name: 'Calendar' });
    const last = await allow(app, browser, client);
    await app.sql(
      `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, expires_at, lifetime)
       SELECT left(g.id, 38) || lpad(i::text, 5, '0'), user_id, client_id, scope, requested_scope, expires_at, lifetime
       FROM grants g, generate_series(1, 4000) i WHERE g.id = $1`,
      [last],
    );
    nats.sleep();
    expect((await revoke(browser, client)).status).toBe(303);
    nats.wake();
    expect(await stateOf(app, last)).toEqual([true, 'revoked']);
    await becomes(IMMEDIATELY);
  });
});

describe('while Redis is unavailable', () => {
  const { app, proxies } = useProxiedAuthorizeApp();

  afterEach(() => {
    proxies.postgres.onStatement = () => undefined;
    proxies.redis.onData = () => undefined;
    proxies.redis.reconnect();
  });

  it.each([
    ['stored', 'SET'],
    ['read', 'GETDEL'],
  ])('a revocation succeeds even if its message cannot be %s', async (_done, command) => {
    const client = await app.client();
    const browser = await app.loggedIn(await app.user());
    const id = await allow(app, browser, client);
    let cuts = 0;
    proxies.redis.onData = (bytes) => {
      const text = bytes.toString('latin1').toUpperCase();
      if (!text.includes(`\r\n${command}\r\n`) || !text.includes('\r\nFLASH:')) return;
      cuts += 1;
      proxies.redis.disconnect();
    };
    const answer = await revoke(browser, client);
    expect(answer.headers['location']).toBe('/auth/apps?done');
    expect(await stateOf(app, id)).toEqual([true, 'revoked']);
    if (command === 'SET') {
      proxies.redis.reconnect();
      await until('Redis answers', 60_000, async () => (await browser.get('/auth/apps')).status === 200);
    }
    expect((await browser.follow(answer)).status).toBe(200);
    expect(cuts).toBe(1);
  });

  const cutRedisAfterRecording = () => {
    proxies.postgres.onStatement = (sql) => {
      if (sql.includes('SET revoked_at')) proxies.redis.disconnect();
    };
  };

  it.each([
    ['one application', (client: Client) => confirmationPath(client)],
    ['all applications', () => '/auth/apps/revoke-all'],
  ])(
    'the page says that the revocation of %s is recorded, and a retry completes the revocation',
    async (_name, address) => {
      const client = await app.client({ name: `Calendar ${randomBytes(3).toString('hex')}` });
      const browser = await app.loggedIn(await app.user());
      const id = await allow(app, browser, client);
      const form = await browser.get(address(client));
      cutRedisAfterRecording();
      const page = await browser.submit(form, {}, '/auth/apps/revoke');
      expect(page.status).toBe(503);
      expect(page.headers['retry-after']).toBe('1');
      expect(page.text).toContain('<title>Error: access not removed everywhere yet · Scheduling</title>');
      expect(page.text).toContain('Your decision has been saved');
      expect(page.text).toMatch(/Reference: <code>[\w-]+<\/code>/);
      proxies.postgres.onStatement = () => undefined;
      proxies.redis.reconnect();
      expect(await stateOf(app, id)).toEqual([true, 'pending']);
      let answer: Response;
      const deadline = Date.now() + 60_000;
      do answer = await browser.submit(page, {}, '/auth/apps/revoke');
      while (answer.status !== 303 && Date.now() < deadline);
      expect(answer.status).toBe(303);
      expect(await stateOf(app, id)).toEqual([true, 'revoked']);
      expect(statusOf(await browser.follow(answer))).toMatch(/can (no longer )?access your account/);
    },
  );
});
