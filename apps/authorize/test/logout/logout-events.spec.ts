import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { PUBLIC_ID_TOKEN_KEYS } from '#test/support/keys.js';
import { csrfToken } from '#ui/browser-cookie.js';
import {
  type AuthorizeApp,
  PASSWORD,
  REDIRECT_URI,
  useAuthorizeApp,
  useProviderLogin,
} from '../support/start-authorize-app.js';
import { FORGER_CLIENT } from '#test/support/forging-provider.js';
import type { Browser } from '#test/support/browser.js';

const sessionOf = (browser: Browser): string =>
  createHash('sha256')
    .update(`session of ID tokens\n${browser.cookies.get('oauth_service_session')}`)
    .digest('base64url');

/**
 * Returns a function that records an ID token of a browser's session for a client, and a function that reads exactly
 * `count` new logout tokens, which must be recorded before the response.
 */
function useLogouts(app: AuthorizeApp) {
  let seen = 0;
  let clientId: string | undefined;
  let other: number | undefined;
  const allowed = async (browser: Browser, userId?: number) => {
    const session = sessionOf(browser);
    other ??= (await app.user()).id;
    clientId ??= (
      await app.client({
        scopes: ['openid'],
        postLogoutRedirectUris: [],
        backchannelLogoutUri: 'https://app.example.com/logout',
      })
    ).clientId;
    await app.sql(
      `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, session, lifetime, expires_at)
       VALUES ($1, $2, $3, 'openid', 'openid', $4, interval '1 day', now() + interval '1 day')`,
      [randomBytes(32).toString('base64url'), userId ?? other, clientId, session],
    );
    return session;
  };
  const next = async (count = 1) => {
    const logouts = await app.sql<{ session: string | null; user_id: number }>(
      "SELECT details->>'session' AS session, user_id FROM events WHERE type = 'logout' ORDER BY id",
    );
    const fresh = logouts.slice(seen);
    seen = logouts.length;
    expect(fresh).toHaveLength(count);
    return fresh[0];
  };
  return { allowed, next };
}

describe('a logout token with password logins', () => {
  const { app, user } = useAuthorizeApp({ ID_TOKEN_KEYS: PUBLIC_ID_TOKEN_KEYS });
  const { allowed, next } = useLogouts(app);

  // @back-channel logout 2.3
  it('is recorded for the session after a log-out', async () => {
    const browser = await app.loggedIn(user);
    const session = await allowed(browser);
    await browser.submit(await browser.get('/auth/'), {}, '/auth/logout');
    expect(await next()).toMatchObject({ session });
  });

  it('is recorded for the session after a confirmed log-out', async () => {
    const browser = await app.loggedIn(user);
    const session = await allowed(browser);
    await browser.submit(await browser.get('/auth/logout'), {}, '/auth/logout/confirm');
    expect(await next()).toMatchObject({ session });
  });

  it('is recorded for the user after a log-out everywhere', async () => {
    const browser = await app.loggedIn(user);
    await allowed(browser, user.id);
    await browser.submit(await browser.get('/auth/'), {}, '/auth/logout-everywhere');
    expect(await next()).toMatchObject({ user_id: user.id });
  });

  /** Posts the login form in a browser with a session, as after `prompt=login`. */
  const logInAgain = async (browser: Browser, { email }: { email: string }) => {
    const token = csrfToken(browser.cookies.get('oauth_service_session') ?? '', 'login');
    const answer = await browser.post('/auth/login', {
      csrf_token: token,
      username: email,
      password: PASSWORD,
    });
    expect(answer.status).toBe(303);
  };

  // @back-channel logout 2.3
  it('is recorded for the former session after another user logs in with the same browser', async () => {
    const browser = await app.loggedIn(user);
    const session = await allowed(browser);
    await logInAgain(browser, await app.user());
    expect(await next()).toMatchObject({ session });
  });

  // @back-channel logout 2.1
  it('is recorded for the first session only at the log-out if the same user logs in again', async () => {
    const browser = await app.loggedIn(user);
    const session = await allowed(browser);
    await logInAgain(browser, user);
    await logInAgain(browser, user);
    expect(sessionOf(browser)).not.toBe(session);
    await browser.submit(await browser.get('/auth/'), {}, '/auth/logout');
    expect(await next()).toMatchObject({ session });
  });

  it('is recorded for the first session if the same user logs in twice concurrently', async () => {
    const browser = await app.loggedIn(user);
    const session = await allowed(browser);
    await Promise.all([logInAgain(browser, user), logInAgain(browser, user)]);
    await browser.submit(await browser.get('/auth/'), {}, '/auth/logout');
    expect(await next()).toMatchObject({ session });
  });

  it('is recorded for the new session if the user logged out everywhere before a new login', async () => {
    const browser = await app.loggedIn(user);
    const other = await app.loggedIn(user);
    await allowed(other, user.id);
    await other.submit(await other.get('/auth/'), {}, '/auth/logout-everywhere');
    expect(await next()).toMatchObject({ user_id: user.id });
    await logInAgain(browser, user);
    const session = await allowed(browser);
    await browser.submit(await browser.get('/auth/'), {}, '/auth/logout');
    expect(await next()).toMatchObject({ session });
  });

  it('is not recorded for a login or for a log-out without a session', async () => {
    const browser = await app.loggedIn(user);
    await app.browser().get('/auth/logout');
    const session = await allowed(browser);
    await browser.submit(await browser.get('/auth/'), {}, '/auth/logout');
    expect(await next()).toMatchObject({ session });
  });
});

describe('a logout token with a login provider', () => {
  const { app, provider } = useProviderLogin({ ID_TOKEN_KEYS: PUBLIC_ID_TOKEN_KEYS }, (issuer) => ({
    end_session_endpoint: `${issuer}/end`,
  }));
  const { allowed, next } = useLogouts(app);

  const logoutToken = async (claims: object) =>
    app.browser().post('/auth/login/back-channel-logout', {
      logout_token: await provider.sign(
        {
          iss: provider.issuer,
          aud: FORGER_CLIENT.id,
          iat: Math.floor(Date.now() / 1000),
          exp: Math.floor(Date.now() / 1000) + 120,
          jti: randomUUID(),
          events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
          ...claims,
        },
        { typ: 'logout+jwt' },
      ),
    });

  const userOf = async (externalId: string) =>
    (await app.sql<{ id: number }>('SELECT id FROM users WHERE external_id = $1', [externalId]))[0]?.id;

  it('is recorded for the session whose sid the provider has ended', async () => {
    const browser = app.browser();
    await provider.logIn(browser, { claims: { sub: 'ada', sid: 'sid-1' } });
    const session = await allowed(browser);
    expect((await logoutToken({ sub: 'ada', sid: 'sid-1' })).status).toBe(200);
    expect(await next()).toMatchObject({ session });
  });

  const logInAgain = async (browser: Browser, claims: Record<string, string>) => {
    const { clientId } = await app.client({ scopes: ['openid'] });
    const request = { client_id: clientId, redirect_uri: REDIRECT_URI, state: 's', scope: 'openid' };
    const query = new URLSearchParams({ ...request, response_type: 'code', prompt: 'login' });
    await provider.logIn(browser, { claims }, `/auth/login?${query.toString()}`);
  };

  it('is recorded for the first session if the provider ends the new sid of the same user', async () => {
    const browser = app.browser();
    await provider.logIn(browser, { claims: { sub: 'joan', sid: 'old' } });
    const session = await allowed(browser);
    await logInAgain(browser, { sub: 'joan', sid: 'new' });
    expect(sessionOf(browser)).not.toBe(session);
    expect((await logoutToken({ sub: 'joan', sid: 'old' })).status).toBe(200);
    expect((await browser.get('/auth/')).status).toBe(200);
    expect((await logoutToken({ sub: 'joan', sid: 'new' })).status).toBe(200);
    expect((await browser.get('/auth/')).status).toBe(303);
    expect(await next()).toMatchObject({ session });
  });

  it('is recorded for the new session if the provider ended the former sid before the login', async () => {
    const browser = app.browser();
    await provider.logIn(browser, { claims: { sub: 'mary', sid: 'ended' } });
    const former = await allowed(browser);
    expect((await logoutToken({ sub: 'mary', sid: 'ended' })).status).toBe(200);
    expect(await next()).toMatchObject({ session: former });
    await provider.logIn(browser, { claims: { sub: 'mary', sid: 'fresh' } });
    const session = await allowed(browser);
    expect((await logoutToken({ sub: 'mary', sid: 'fresh' })).status).toBe(200);
    expect(await next()).toMatchObject({ session });
  });

  it('is recorded after a log-out that continues at the provider', async () => {
    const client = await app.client({
      postLogoutRedirectUris: ['https://app.example.com/bye'],
      backchannelLogoutUri: null,
    });
    const browser = app.browser();
    await provider.logIn(browser, { claims: { sub: 'ada' } });
    const session = await allowed(browser);
    const query = new URLSearchParams({
      client_id: client.clientId,
      post_logout_redirect_uri: 'https://app.example.com/bye',
      state: 's1',
    });
    const page = await browser.get(`/auth/logout?${query.toString()}`);
    const answer = await browser.submit(page, {}, '/auth/logout/confirm');
    const atProvider = new URL(answer.headers['location'] ?? '');
    expect(atProvider.origin + atProvider.pathname).toBe(`${provider.issuer}/end`);
    expect(atProvider.searchParams.get('post_logout_redirect_uri')).toBe('http://localhost:3001/auth/logout');
    expect(await next()).toMatchObject({ session });
    const returned = await browser.get('/auth/logout');
    expect([returned.status, returned.headers['location']]).toEqual([
      303,
      'https://app.example.com/bye?state=s1',
    ]);
    expect((await browser.get('/auth/logout')).status).toBe(200);
  });

  it.each([
    ['the log-out form', '/auth/', '/auth/logout', 2],
    ['the confirmation', '/auth/logout', '/auth/logout/confirm', 2],
    ['the log-out everywhere', '/auth/', '/auth/logout-everywhere', 1],
  ])(
    'is recorded if a response was lost, and the repetition continues at the provider as well: %s',
    async (_name, from, action, events) => {
      const browser = app.browser();
      await provider.logIn(browser, { claims: { sub: action, email: `${events}@example.com` } });
      await allowed(browser, await userOf(action));
      const cookie = browser.cookies.get('oauth_service_session') ?? '';
      const page = await browser.get(from);
      const first = await browser.submit(page, {}, action);
      browser.cookies.set('oauth_service_session', cookie);
      const second = await browser.submit(page, {}, action);
      expect(first.headers['location']).toMatch(`${provider.issuer}/end?`);
      expect(second.headers['location']).toBe(first.headers['location']);
      await next(events);
    },
  );

  it('is recorded if the response to a link was lost, and the repetition continues at the provider as well', async () => {
    const browser = app.browser();
    await provider.logIn(browser, { claims: { sub: 'link' } });
    await allowed(browser);
    const cookie = browser.cookies.get('oauth_service_session') ?? '';
    const page = await browser.get('/auth/logout');
    await browser.submit(page, {}, '/auth/logout/confirm');
    browser.cookies.set('oauth_service_session', cookie);
    const again = await browser.get('/auth/logout');
    expect(again.headers['location']).toMatch(`${provider.issuer}/end?`);
    // The browser now has another cookie, so the way back from the provider does not lead there again.
    expect((await browser.get('/auth/logout')).status).toBe(200);
    await next(2);
  });

  it('is recorded for the user whose sessions the provider has ended', async () => {
    const browser = app.browser();
    await provider.logIn(browser, { claims: { sub: 'grace', email: 'grace@example.com' } });
    const userId = await userOf('grace');
    await allowed(browser, userId);
    expect((await logoutToken({ sub: 'grace' })).status).toBe(200);
    expect(await next()).toMatchObject({ session: null, user_id: userId });
  });
});
