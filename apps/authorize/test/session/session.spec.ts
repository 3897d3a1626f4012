import { createHash } from 'node:crypto';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { formsOf } from '#local/demo/html-form.js';
import { csrfToken } from '#ui/browser-cookie.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { OPERATOR_SUBJECTS, type UserSessionsReply } from '#messaging/request-sender.js';
import { PASSWORD, startAuthorizeApp, useAuthorizeApp } from '../support/start-authorize-app.js';

describe('session', () => {
  const { app, user } = useAuthorizeApp({ SESSION_IDLE_LIFETIME: 600 });

  const keyOf = (cookie = '') => `session:${createHash('sha256').update(cookie).digest('base64url')}`;

  describe('a session', () => {
    // @rfc 6749 10.10
    it('is identified by 256 random bits in an HttpOnly, SameSite=Lax cookie', async () => {
      const answer = await app.browser().get('/auth/login');
      expect(answer.headers['set-cookie']).toEqual([
        expect.stringMatching(/^oauth_service_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/),
      ]);
    });

    it('has a Secure __Host- cookie when the app is reached over https', async () => {
      const secure = await startAuthorizeApp({ AUTH_URL: 'https://auth.example.com' });
      try {
        const answer = await secure.browser().get('/auth/login');
        expect(answer.headers['set-cookie']).toEqual([
          expect.stringMatching(/^__Host-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/),
        ]);
        const browser = await secure.loggedIn(await secure.user());
        expect((await browser.get('/auth/')).status).toBe(200);
      } finally {
        await secure.close();
      }
    });

    // RFC 6265 4.1.1: "Servers SHOULD NOT include more than one Set-Cookie header field" for one cookie.
    it('ends with one Set-Cookie header if the user switches accounts', async () => {
      const browser = await app.loggedIn(user);
      const form = formsOf((await browser.get('/auth/')).text).find(
        ({ action }) => action === '/auth/logout',
      );
      const answer = await browser.post('/auth/logout?client_id=x', form?.hidden ?? {});
      expect(answer.headers['location']).toBe('/auth/login?client_id=x');
      expect(answer.headers['set-cookie']).toEqual([
        'oauth_service_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0',
      ]);
    });

    it('starts only at the login, with a new cookie', async () => {
      const browser = app.browser();
      const page = await browser.get('/auth/login');
      const before = browser.cookies.get('oauth_service_session');
      expect(await app.redis.exists(keyOf(before))).toBe(0);
      const answer = await browser.submit(page, { username: user.email, password: PASSWORD });
      const after = browser.cookies.get('oauth_service_session');
      const sent = answer.headers['set-cookie'] as unknown as string[];
      expect(sent.filter((header) => header.startsWith('oauth_service_session='))).toHaveLength(1);
      expect(after).not.toBe(before);
      expect(await app.redis.exists(keyOf(before))).toBe(0);
      expect(JSON.parse((await app.redis.get(keyOf(after))) ?? '')).toEqual({
        userId: user.id,
        generation: user.sessionGeneration,
        authTime: expect.any(Number),
        loginFor: expect.stringMatching(/^[\w-]{43}$/),
      });
    });

    it('is stored under a hash, so that Redis does not contain the cookie', async () => {
      const browser = await app.loggedIn(user);
      const cookie = browser.cookies.get('oauth_service_session') ?? '';
      const keys = await app.redis.keys('*');
      expect(keys).toContain(keyOf(cookie));
      const values = await Promise.all(
        keys.map((key) =>
          key.startsWith('sessions-of-user:') ? app.redis.zrange(key, '0', '-1') : app.redis.get(key),
        ),
      );
      expect(JSON.stringify([keys, values])).not.toContain(cookie);
    });

    it('is extended when it is used', async () => {
      const browser = await app.loggedIn(user);
      const key = keyOf(browser.cookies.get('oauth_service_session'));
      await app.redis.expire(key, 100);
      const before = performance.now();
      await browser.get('/auth/');
      const ttl = await app.redis.pttl(key);
      expect(ttl).toBeGreaterThan(599_000 - (performance.now() - before));
      expect(ttl).toBeLessThanOrEqual(600_000);
    });

    it('ends 30 days after the login, even if it is used', async () => {
      const browser = await app.loggedIn(user);
      const key = keyOf(browser.cookies.get('oauth_service_session'));
      const session = JSON.parse((await app.redis.get(key)) ?? '') as { authTime: number };
      const ago = async (days: number) => {
        const authTime = Date.now() - days * 24 * 60 * 60_000;
        await app.redis.set(key, JSON.stringify({ ...session, authTime }), 'EX', 600);
        return (await browser.get('/auth/')).status;
      };
      expect(await ago(29.9)).toBe(200);
      expect(await ago(30.1)).toBe(303);
    });

    it('ends when the user logs in again in the same browser', async () => {
      const browser = app.browser();
      const page = await browser.get('/auth/login');
      const login = { username: user.email, password: PASSWORD };
      await browser.submit(page, login);
      const first = browser.cookies.get('oauth_service_session') ?? '';
      const again = { csrf_token: csrfToken(first, 'login'), ...login };
      expect((await browser.post('/auth/login', again)).status).toBe(303);
      expect(browser.cookies.get('oauth_service_session')).not.toBe(first);
      expect(await app.redis.exists(keyOf(first))).toBe(0);
    });

    it('ends at logout, in Redis and in the browser', async () => {
      const browser = await app.loggedIn(user);
      const key = keyOf(browser.cookies.get('oauth_service_session'));
      const out = await browser.submit(await browser.get('/auth/'), {});
      expect(out.headers['set-cookie']).toEqual([
        expect.stringMatching(/^oauth_service_session=[\w-]{43}; /),
      ]);
      expect(await app.redis.exists(key)).toBe(0);
      expect(await app.redis.exists(keyOf(browser.cookies.get('oauth_service_session')))).toBe(0);
    });

    it.each(['', 'x', 'x'.repeat(43), '"', '%00', `${'x'.repeat(43)}; session=y`, 'é'])(
      'cannot be created by a forged cookie: %j',
      async (value) => {
        const browser = app.browser();
        browser.cookies.set('oauth_service_session', encodeURI(value));
        expect((await browser.get('/auth/')).headers['location']).toBe('/auth/login');
        expect((await browser.get('/auth/login')).status).toBe(200);
      },
    );
  });
});

describe('session list', () => {
  const { app } = useAuthorizeApp({ SESSION_IDLE_LIFETIME: 600, SESSION_LIFETIME: 3_600 });

  let nats: NatsConnection;

  beforeAll(async () => {
    nats = await connect(natsOptions(app.services.natsUrl, 'operator test'));
  });

  afterAll(() => nats.close());

  const digest = (cookie = '') => createHash('sha256').update(cookie).digest('base64url');

  async function sessionsOf(userId: number) {
    const request = JSON.stringify({ user_id: userId });
    const reply = await nats.request(OPERATOR_SUBJECTS.userSessions, request, { timeout: 60_000 });
    return { text: reply.string(), sessions: reply.json<UserSessionsReply>().sessions };
  }

  describe('the list of sessions for operators', () => {
    it('contains the times of each session, but nothing that identifies the session', async () => {
      const user = await app.user();
      const browsers = [await app.loggedIn(user), await app.loggedIn(user)];
      const [cookie] = browsers.map(({ cookies }) => cookies.get('oauth_service_session') ?? '');
      const key = `session:${digest(cookie)}`;
      await app.redis.expire(key, 60);
      const { text, sessions } = await sessionsOf(user.id);
      expect(sessions).toHaveLength(2);
      const [newer, older] = sessions.map(
        (session) => Date.parse(session.last_used_at) - Date.parse(session.started_at),
      );
      // The remaining 60 of 600 seconds mean that the last use was 540 seconds ago.
      expect(Math.round((older ?? 0) / -60_000)).toBe(9);
      expect(newer).toBeGreaterThan(-30_000);
      expect(await app.redis.ttl(key)).toBeLessThanOrEqual(60);
      const stored = await app.redis.get(key);
      expect(text).not.toMatch(new RegExp([cookie, digest(cookie), 'loginFor'].join('|')));
      expect(stored).toContain('loginFor');
    });

    it('omits sessions that have ended and sessions of other users', async () => {
      const user = await app.user();
      const browser = await app.loggedIn(user);
      await app.loggedIn(await app.user());
      await app.redis.zadd(`sessions-of-user:${user.id}`, Date.now(), 'gone');
      expect((await sessionsOf(user.id)).sessions).toHaveLength(1);
      const key = `session:${digest(browser.cookies.get('oauth_service_session'))}`;
      const session = JSON.parse((await app.redis.get(key)) ?? '') as object;
      for (const change of [{ authTime: Date.now() - 3_601_000 }, { generation: -1 }]) {
        await app.redis.set(key, JSON.stringify({ ...session, ...change }), 'EX', 600);
        expect((await sessionsOf(user.id)).sessions).toEqual([]);
      }
    });

    it('keeps at most 100 sessions of a user, and no session beyond its lifetime', async () => {
      const user = await app.user();
      const key = `sessions-of-user:${user.id}`;
      const now = Date.now();
      const known = Array.from({ length: 110 }, (_, at) => [now - at - 1, `s${at}`]);
      await app.redis.zadd(key, ...known.flat(), now - 3_700_000, 'old');
      await app.loggedIn(user);
      expect(await app.redis.zcard(key)).toBe(100);
      expect(await app.redis.ttl(key)).toBeLessThanOrEqual(3_600);
      expect((await app.redis.zrange(key, '0', '0'))[0]).toBe('s98');
    });
  });
});
