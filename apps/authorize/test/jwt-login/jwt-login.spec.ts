import { redirectParameters, REDIRECT_URI } from '../support/start-authorize-app.js';
import { expectConsentPage } from '../support/use-requests.js';
import {
  CALLBACK,
  challengeIn,
  claimsOf,
  expectRefused,
  PRODUCT_URL,
  PROFILE,
  useJwtLogin,
} from './use-jwt-login.js';

const { app, client, address, challenge, assertion, jwtLogin, logIn, sessions, user } = useJwtLogin();
const seconds = () => Math.floor(Date.now() / 1000);

beforeEach(async () => {
  await app.sql('DELETE FROM grants');
  await app.sql('DELETE FROM users');
});

describe('the redirect to the product', () => {
  it('contains the client name and the login parameters in its challenge', async () => {
    const hints = {
      prompt: 'login select_account',
      login_hint: 'ada@example.com',
      ui_locales: 'de,en_GB',
      max_age: '60',
    };
    const claims = claimsOf(await challenge(app.browser(), address(hints)));
    expect(claims).toEqual({
      iss: app.configuration.AUTH_URL,
      aud: PRODUCT_URL,
      jti: expect.stringMatching(/^[\w-]{43}$/),
      iat: expect.any(Number),
      exp: (claims.iat ?? 0) + 1800,
      client_name: 'Calendar Connect',
      prompt: 'login select_account',
      login_hint: 'ada@example.com',
      ui_locales: 'de en-GB',
      max_age: 60,
    });
  });

  it('does not name an application if none requested the login', async () => {
    const claims = claimsOf(challengeIn(await app.browser().get('/auth/login')));
    expect(Object.keys(claims).toSorted()).toEqual(['aud', 'exp', 'iat', 'iss', 'jti']);
  });

  it('is skipped for an invalid request', async () => {
    const wrong = address({ redirect_uri: 'https://evil.example/' });
    const login = await app.browser().get(wrong.replace('/oauth2/authorize', '/login'));
    expect(login.headers['location']).toBe(wrong);
  });
});

it('the public key of the challenges is published', async () => {
  const answer = await app.browser().get('/auth/login/jwks.json');
  expect(answer.headers['content-type']).toBe('application/jwk-set+json; charset=utf-8');
  expect(JSON.parse(answer.text || (answer.body as Buffer).toString())).toEqual({
    keys: [expect.objectContaining({ kty: 'OKP', crv: 'Ed25519', use: 'sig', alg: 'EdDSA' })],
  });
});

describe('a login by signed JWT', () => {
  it('creates the user, starts a session, and continues the request', async () => {
    const browser = app.browser();
    const answer = await logIn(browser, { zoneinfo: 'Europe/Berlin', preferred_username: 'ada' });
    expect(answer.status).toBe(303);
    expect(answer.headers['location']).toBe(address());
    expectConsentPage(await browser.follow(answer));
    expect(await user()).toMatchObject({
      email: PROFILE.email,
      name: PROFILE.name,
      username: 'ada',
      time_zone: 'Europe/Berlin',
    });
  });

  it('updates the profile of an existing user', async () => {
    await logIn(app.browser());
    const before = await user();
    const browser = app.browser();
    await logIn(browser, { name: 'Ada King', email: 'countess@example.com' });
    expect(await user()).toMatchObject({
      id: before?.['id'],
      name: 'Ada King',
      email: 'countess@example.com',
    });
    expect((await browser.get('/auth/')).text).toContain('countess@example.com');
  });

  it('redirects to the account pages if no application requested the login', async () => {
    const browser = app.browser();
    const answer = await jwtLogin(
      browser,
      await assertion(challengeIn(await browser.get('/auth/login?to=apps'))),
    );
    expect(answer.headers['location']).toBe('/auth/apps');
    expect((await browser.follow(answer)).status).toBe(200);
  });

  // @rfc 9700 4.3.2
  it('never puts the assertion or a name into a URL or a cookie', async () => {
    const browser = app.browser();
    const jwt = await assertion(await challenge(browser));
    const { headers } = await jwtLogin(browser, jwt);
    const seen = JSON.stringify([headers['location'], headers['set-cookie']]);
    for (const part of [...jwt.split('.'), 'ada', 'Ada']) expect(seen).not.toContain(part);
  });

  it('sets a new session cookie, and ends the previous session', async () => {
    const browser = app.browser();
    await logIn(browser);
    const first = browser.cookies.get('oauth_service_session');
    const before = await sessions();
    const { headers } = await logIn(browser, { auth_time: seconds() }, address({ prompt: 'login' }));
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(/^oauth_service_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
    expect(browser.cookies.get('oauth_service_session')).not.toBe(first);
    expect(await sessions()).toBe(before);
  });

  it('rejects a disabled user with an explanation', async () => {
    await logIn(app.browser());
    await app.accounts.disable(Number((await user())?.['id']));
    const page = await logIn(app.browser());
    expectRefused(page, 403, 'Your account is disabled');
    // The page has no retry button, because another attempt would fail too.
    expect(page.text).not.toContain('class="button"');
  });

  it.each([
    ['without an e-mail', { email: null }],
    ['with an invalid e-mail', { email: 'ada' }],
  ])('rejects a user %s with a page that restarts the authorization request', async (_case, claims) => {
    const page = await logIn(app.browser(), claims);
    expectRefused(page, 403, 'Login failed');
    expect(page.text).toContain('email');
    expect(page.text).toContain(
      `href="${address().replace('/oauth2/authorize', '/login').replaceAll('&', '&amp;')}"`,
    );
    expect(await user()).toBeUndefined();
  });

  it('ignores profile claims with an invalid type or value', async () => {
    const odd = {
      name: { length: 1e9 },
      preferred_username: 7,
      picture: 'no address',
      zoneinfo: 'Mars',
      locale: [],
    };
    expect((await logIn(app.browser(), odd)).status).toBe(303);
    expect(await user()).toMatchObject({ username: PROFILE.email, time_zone: 'UTC' });
  });
});

describe('two concurrent tabs', () => {
  it('complete their own requests in either order', async () => {
    const browser = app.browser();
    const requests = ['a', 'b'].map((state) => address({ state }));
    const challenges = [];
    for (const request of requests) challenges.push(await challenge(browser, request));
    for (const index of [1, 0]) {
      const answer = await jwtLogin(browser, await assertion(challenges[index] ?? ''));
      expect(answer.headers['location']).toBe(requests[index]);
      expectConsentPage(await browser.follow(answer));
    }
  });
});

describe('a new login (OpenID Connect Core 3.1.2.1)', () => {
  const again = address.bind(null, { prompt: 'login' });

  it.each([
    ['no auth_time', () => ({})],
    ['an auth_time before the request', () => ({ auth_time: seconds() - 60 })],
  ])('is rejected for prompt=login with %s', async (_case, claims) => {
    expectRefused(await logIn(app.browser(), claims(), again()), 403, 'auth_time');
  });

  it('is accepted for one response with prompt=login', async () => {
    const browser = app.browser();
    const page = await browser.follow(await logIn(browser, { auth_time: seconds() }, again()));
    expectConsentPage(page);
    const answer = await browser.submit(page, { decision: 'allow' }, '/auth/oauth2/authorize');
    expect(redirectParameters(answer.headers['location'])['code']).toMatch(/^sac_/);
    expect((await browser.get(again())).headers['location']).toMatch(/^\/auth\/login\?/);
  });

  it('must not be older than max_age', async () => {
    const request = address({ max_age: '600' });
    expectRefused(await logIn(app.browser(), { auth_time: seconds() - 700 }, request), 403, 'auth_time');
    expectRefused(await logIn(app.browser(), {}, request), 403, 'auth_time');
    const browser = app.browser();
    expectConsentPage(await browser.follow(await logIn(browser, { auth_time: seconds() - 500 }, request)));
  });

  it('is required for max_age if the session has no auth_time', async () => {
    const browser = app.browser();
    expectConsentPage(await browser.follow(await logIn(browser)));
    const answer = await browser.get(address({ max_age: '600' }));
    expect(answer.headers['location']).toMatch(/^\/auth\/login\?/);
  });
});

describe('the cancellation of a login', () => {
  const cancel = (challengeJwt: string) =>
    `${CALLBACK}?${new URLSearchParams({ error: 'access_denied', challenge: challengeJwt })}`;

  // @rfc 6749 4.1.2.1
  it('returns access_denied to the application', async () => {
    const browser = app.browser();
    const answer = await browser.get(cancel(await challenge(browser)));
    expect(answer.status).toBe(303);
    expect(answer.headers['location']).toMatch(REDIRECT_URI.split('?', 1)[0] ?? '');
    expect(redirectParameters(answer.headers['location'])).toMatchObject({
      error: 'access_denied',
      state: 's1',
    });
  });

  it('shows a page that offers a new login if no application requested the login', async () => {
    const browser = app.browser();
    const page = await browser.get(cancel(challengeIn(await browser.get('/auth/login?to=apps'))));
    expectRefused(page, 403, 'The login was cancelled');
    expect(page.text).toContain('href="/auth/login?to=apps"');
  });

  it('prevents the completion of the login', async () => {
    const browser = app.browser();
    const issued = await challenge(browser);
    await browser.get(cancel(issued));
    const answer = await jwtLogin(browser, await assertion(issued));
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect((await browser.follow(answer)).headers['location']).toMatch(/^\/auth\/login/);
  });

  it('has no effect from another browser or after the completion of the login', async () => {
    const browser = app.browser();
    const issued = await challenge(browser);
    expectRefused(await app.browser().get(cancel(issued)), 400, 'This login has expired');
    expect((await jwtLogin(browser, await assertion(issued))).headers['set-cookie']).toBeDefined();
    expect((await browser.get(cancel(issued))).headers['location']).toBe(address());
    expectConsentPage(await browser.get(address()));
  });

  it.each(['', 'access_denied', 'a.b.c'])('is rejected with the invalid challenge %j', async (made) => {
    expectRefused(await app.browser().get(cancel(made)), 403, 'Login failed');
  });
});

describe('logging out', () => {
  it('does not start a new login', async () => {
    const browser = app.browser();
    await browser.follow(await logIn(browser));
    const out = await browser.submit(await browser.get('/auth/'), {}, '/auth/logout');
    const page = await browser.follow(out);
    expect(page.status).toBe(200);
    expect(page.text).toContain('href="/auth/login"');
    expect((await browser.get('/auth/')).headers['location']).toBe('/auth/login');
  });

  it('on the consent page asks the product for another account', async () => {
    const browser = app.browser();
    const consent = await browser.follow(await logIn(browser, {}, address({ prompt: 'consent' })));
    const issued = challengeIn(await browser.submit(consent, {}, '/auth/logout'));
    expect(claimsOf(issued)).toMatchObject({ prompt: 'select_account', client_name: client.name });
  });
});
