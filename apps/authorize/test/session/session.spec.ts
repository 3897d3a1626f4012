import { createHash } from 'node:crypto';
import { formsOf } from '#local/demo/html-form.js';
import { csrfToken } from '#ui/browser-cookie.js';
import { PASSWORD, startAuthorizeApp } from '../support/start-authorize-app.js';
import { useAuthorizeApp } from '../support/use-authorize-app.js';

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
    const form = formsOf((await browser.get('/auth/')).text).find(({ action }) => action === '/auth/logout');
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
    expect(out.headers['set-cookie']).toEqual([expect.stringMatching(/^oauth_service_session=[\w-]{43}; /)]);
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
