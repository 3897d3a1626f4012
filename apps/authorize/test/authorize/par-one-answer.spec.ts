import pg from 'pg';
import type { Response } from 'supertest';
import { FIELD, STATUS } from '#grants/grant-hash.js';
import { REDIRECT_URI } from '#test/support/fixture.js';
import { blocked, until } from '#test/support/until.js';
import { startApp } from '#test/support/app-process.js';
import { Browser, targetOf } from '#test/support/browser.js';
import { authorizeAddress, redirectParameters, PASSWORD } from '../support/start-authorize-app.js';
import { ANSWERED, decide, expectStartAgain, usePushedRequests } from '../support/use-pushed-requests.js';

const { app, client, token, user, proxies, push, address } = usePushedRequests();

const grants = () => app.redis.keys('grant:*');
/** Returns the new grants. A comparison of counts would fail if a grant of an earlier test expired. */
const grantsSince = async (before: readonly string[]) =>
  (await grants()).filter((key) => !before.includes(key));

const statusOf = (keys: readonly string[]) =>
  Promise.all(keys.map((key) => app.redis.hget(key, FIELD.status)));
const records = () => app.sql('SELECT id FROM grants WHERE user_id = $1', [user.id]);
const responseOf = ({ headers }: Response) => redirectParameters(headers['location']);

beforeEach(() => app.sql('DELETE FROM grants'));

const NO_NEW_GRANTS = 'ALTER TABLE grants ADD CONSTRAINT none CHECK (false) NOT VALID';
const NEW_GRANTS = 'ALTER TABLE grants DROP CONSTRAINT none';

/** Calls `act` when the app inserts the next grant, and then resolves. */
function onceRecorded(act: () => void): Promise<void> {
  return new Promise((resolve) => {
    proxies.postgres.onStatement = (sql) => {
      if (!sql.includes('INSERT INTO grants')) return;
      proxies.postgres.onStatement = () => undefined;
      act();
      resolve();
    };
  });
}

/** Holds decisions in PostgreSQL and releases them together, so that they are concurrent. */
async function race<T>(send: () => Promise<T>): Promise<T> {
  const database = new pg.Client({ connectionString: app.services.databaseUrl });
  await database.connect();
  await database.query('BEGIN');
  await database.query('LOCK TABLE clients');
  const sent = send();
  await blocked(app, 3);
  proxies.postgres.hold();
  await database.query('COMMIT');
  await database.end();
  const active = `SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
      AND backend_type = 'client backend' AND state = 'active'`;
  while ((await app.sql(active)).length > 0);
  proxies.postgres.release();
  return sent;
}

describe('a pushed request', () => {
  // @rfc 9126 4
  it('is used up by Allow, and then results in an explanation', async () => {
    const requestUri = await push();
    const browser = await app.loggedIn(user);
    const page = await browser.get(address(requestUri));
    const otherTab = await browser.get(address(requestUri));
    expect((await decide(browser, page)).status).toBe(303);
    const before = await grants();
    expectStartAgain(await decide(browser, otherTab), ANSWERED);
    expectStartAgain(await decide(browser, otherTab, 'deny'), ANSWERED);
    expectStartAgain(await browser.get(address(requestUri)), ANSWERED);
    expectStartAgain(await (await app.loggedIn(await app.user())).get(address(requestUri)), ANSWERED);
    expect(await grantsSince(before)).toEqual([]);
  });

  it('is used up by Cancel', async () => {
    const requestUri = await push();
    const browser = await app.loggedIn(user);
    const page = await browser.get(address(requestUri));
    const otherTab = await browser.get(address(requestUri));
    const denied = { error: 'access_denied', state: 's 1&é' };
    expect(responseOf(await decide(browser, page, 'deny'))).toMatchObject(denied);
    expectStartAgain(await decide(browser, otherTab), ANSWERED);
    // The same form gets the same answer again, even if the user now presses Allow.
    expect(responseOf(await decide(browser, page))).toMatchObject(denied);
    expect(await records()).toEqual([]);
  });

  it('gives no second answer to a form whose code was redeemed, and keeps its tokens', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(address(await push()));
    const { code = '' } = responseOf(await decide(browser, page));
    const form = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, ...client };
    const exchange = () =>
      fetch(`${token.url}/api/auth/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
    expect((await exchange()).status).toBe(200);
    const before = await grants();
    expectStartAgain(await decide(browser, page), ANSWERED);
    expect(await grantsSince(before)).toEqual([]);
    expect(await statusOf(before)).toContain(STATUS.active);
  });

  it('yields one code at two processes that get the same form concurrently', async () => {
    const { AUTH_URL, BASE_URL, TOKEN_KEYS } = app.configuration;
    const { databaseUrl, redisUrl, natsUrl } = app.services;
    const services = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, NATS_URL: natsUrl };
    const start = () => startApp('authorize', { AUTH_URL, BASE_URL, TOKEN_KEYS, ...services });
    const processes = await Promise.all([start(), start()]);
    try {
      const browsers = processes.map(({ url }) => new Browser(url));
      const [first] = browsers as [Browser, Browser];
      const login = { username: user.email, password: PASSWORD };
      await first.submit(await first.get('/auth/login'), login);
      for (const cookie of ['oauth_service_session', 'oauth_service_device'])
        browsers[1]?.cookies.set(cookie, first.cookies.get(cookie) ?? '');
      const request = {
        client_id: client.client_id,
        redirect_uri: REDIRECT_URI,
        state: 's',
        prompt: 'consent',
      };
      for (const consent of [address(await push()), authorizeAddress(request)]) {
        const page = await first.get(consent);
        const before = await grants();
        const answers = await Promise.all(browsers.map((browser) => decide(browser, page)));
        const codes = new Set(answers.map((answer) => responseOf(answer)['code']));
        expect(codes).toEqual(new Set([expect.stringMatching(/^sac_/)]));
        expect(await grantsSince(before)).toHaveLength(1);
      }
      expect(await records()).toHaveLength(2);
    } finally {
      await Promise.all(processes.map((process_) => process_.stop()));
    }
  });

  describe('with earlier consent', () => {
    const exchange = async (code: string) => {
      const form = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, ...client };
      const answer = await fetch(`${token.url}/api/auth/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams(form),
      });
      return answer.status;
    };
    async function consented(): Promise<Browser> {
      const browser = await app.loggedIn(user);
      const { code = '' } = responseOf(await decide(browser, await browser.get(address(await push()))));
      expect(await exchange(code)).toBe(200);
      return browser;
    }

    // @rfc 9126 4
    it('yields one code to a link that the same browser opens again, until the code is redeemed', async () => {
      const browser = await consented();
      for (const prompt of ['', 'login']) {
        const link = address(await push({ prompt }));
        const open = async () => {
          const answer = await browser.get(link);
          if (!answer.headers['location']?.startsWith('/auth/login')) return answer;
          const login = await browser.follow(answer);
          return browser.get(
            targetOf(await browser.submit(login, { username: user.email, password: PASSWORD })),
          );
        };
        const before = await grants();
        const codes = [await open(), ...(await Promise.all([open(), open()]))].map(
          (answer) => responseOf(answer)['code'] ?? '',
        );
        expect(new Set(codes)).toEqual(new Set([expect.stringMatching(/^sac_/)]));
        expect(await grantsSince(before)).toHaveLength(1);
        expect(await exchange(codes[0] ?? '')).toBe(200);
        expectStartAgain(await browser.get(link), ANSWERED);
      }
    });

    it('yields no second answer to another browser of the same user', async () => {
      const browser = await consented();
      const link = address(await push({ prompt: '' }));
      expect((await browser.get(link)).headers['location']).toContain('code=');
      expectStartAgain(await (await app.loggedIn(user)).get(link), ANSWERED);
    });

    it('gets a new code for each link without a pushed request', async () => {
      const browser = await consented();
      const request = { client_id: client.client_id, redirect_uri: REDIRECT_URI, state: 's' };
      const links = [authorizeAddress(request), authorizeAddress(request)];
      const codes = await Promise.all(links.map(async (link) => responseOf(await browser.get(link))['code']));
      expect(codes).toEqual(codes.map(() => expect.stringMatching(/^sac_/)));
      expect(new Set(codes).size).toBe(2);
    });
  });

  // @rfc 9126 4 @reliability race-pushed-request
  it('yields one code for 20 concurrent submissions of Allow', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(address(await push()));
    const before = await grants();
    const answers = await race(() => Promise.all(Array.from({ length: 20 }, () => decide(browser, page))));
    const [code, ...others] = new Set(answers.map((answer) => responseOf(answer)['code']));
    expect(code).toMatch(/^sac_/);
    expect(others).toEqual([]);
    expect(await grantsSince(before)).toHaveLength(1);
    expect(await records()).toHaveLength(1);
  });

  it('yields one response for concurrent submissions of two tabs', async () => {
    const browser = await app.loggedIn(user);
    const requestUri = await push();
    const tabs = [await browser.get(address(requestUri)), await browser.get(address(requestUri))];
    const decisions = tabs.flatMap((page) => ['allow', 'deny'].map((decision) => ({ page, decision })));
    const answers = await race(() =>
      Promise.all(
        decisions.map(async ({ page, decision }) => ({
          page,
          answer: await decide(browser, page, decision),
        })),
      ),
    );
    const answered = answers.filter(({ answer }) => answer.status === 303);
    expect(new Set(answered.map(({ page }) => page)).size).toBe(1);
  });

  it('yields no usable code for concurrent submissions of Allow and Cancel', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(address(await push()));
    const before = await grants();
    const decisions = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? 'allow' : 'deny'));
    const answers = await race(() =>
      Promise.all(decisions.map((decision) => decide(browser, page, decision))),
    );
    expect(answers.map(({ status }) => status)).toEqual(decisions.map(() => 303));
    const statuses = await statusOf(await grantsSince(before));
    // A code that was voided before it reached Redis has no status.
    expect(statuses.filter((status) => status !== STATUS.revoked && status !== null)).toEqual([]);
    expect(statuses.length).toBeGreaterThan(0);
    expect(await records()).toEqual([]);
  });

  it('is not used up by an invalid decision or by a form without a CSRF token', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(address(await push()));
    expect((await decide(browser, page, 'perhaps')).status).toBe(400);
    const forged = await browser.post(page.request.url.replace(/^https?:\/\/[^/]+/, ''), {
      decision: 'allow',
    });
    expect(forged.status).toBe(403);
    expect((await decide(browser, page)).status).toBe(303);
  });

  it('is not used up if Allow fails, so that the user can retry', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(address(await push()));
    await app.sql(NO_NEW_GRANTS);
    const failed = await decide(browser, page);
    await app.sql(NEW_GRANTS);
    expect(failed.status).toBe(500);
    expect((await decide(browser, page)).status).toBe(303);
  });

  it('is not used up if Allow is submitted during an outage of PostgreSQL', async () => {
    const browser = await app.loggedIn(user);
    const requestUri = await push();
    const page = await browser.get(address(requestUri));
    const cut = onceRecorded(() => proxies.postgres.disconnect());
    expect((await decide(browser, page)).status).toBe(503);
    await cut;
    proxies.postgres.reconnect();
    await until(
      'the page is available',
      60_000,
      async () => (await browser.get(address(requestUri))).status === 200,
    );
    expect((await decide(browser, page)).status).toBe(303);
  });

  it('results in the error that made Allow fail, even if Redis fails afterwards', async () => {
    const browser = await app.loggedIn(user);
    const requestUri = await push();
    const page = await browser.get(address(requestUri));
    await app.sql(NO_NEW_GRANTS);
    const cut = onceRecorded(() => proxies.redis.disconnect());
    const failed = await decide(browser, page);
    await cut;
    proxies.redis.reconnect();
    await app.sql(NEW_GRANTS);
    // The outage of Redis would cause a 503.
    expect(failed.status).toBe(500);
    await until('Redis answers', 60_000, async () => (await browser.get(address(requestUri))).status !== 503);
  });

  it('is not used up if Allow is submitted after the session has ended', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(address(await push()));
    const sessions = await app.redis.keys('session:*');
    await app.redis.del(...sessions);
    const answer = await decide(browser, page);
    expect(answer.headers['location']).toMatch(/^\/auth\/login\?/);
    const login = await browser.follow(answer);
    const again = await browser.submit(login, {
      username: user.email,
      password: PASSWORD,
    });
    expect((await decide(browser, await browser.follow(again))).status).toBe(303);
  });
});
