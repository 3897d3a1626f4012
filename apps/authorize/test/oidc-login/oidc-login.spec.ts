import { jest } from '@jest/globals';
import { SignJWT, UnsecuredJWT } from 'jose';
import type { Response } from 'supertest';
import { authorizeAddress, REDIRECT_URI, useProviderLogin } from '../support/start-authorize-app.js';
import { FORGER_CLIENT, type Forgery } from '#test/support/forging-provider.js';

const { app, client, provider } = useProviderLogin();

afterEach(() => {
  jest.restoreAllMocks();
  app.clock.ahead = 0;
  app.configuration.LOGIN_LINK_BY_EMAIL = 'false';
  provider.state.forgery = {};
});

const request = (more: Record<string, string> = {}) => {
  const address = authorizeAddress({
    client_id: client.clientId,
    redirect_uri: REDIRECT_URI,
    state: 's',
    ...more,
  });
  return address.slice(address.indexOf('?'));
};
const h1Of = ({ text }: Response) => /<h1>([^<]*)<\/h1>/.exec(text)?.[1];
const usersNamed = (sub: string) =>
  app.sql<{ id: number; email: string }>('SELECT id, email FROM users WHERE external_id = $1', [sub]);
const expectNoSession = (answer: Response) =>
  expect(answer.headers['set-cookie'] ?? '').not.toContain('oauth_service_session=');

it('a login with a valid ID token sets a new session cookie', async () => {
  const browser = app.browser();
  const first = await provider.logIn(browser, { claims: { sub: 'valid', name: 'Ada' } });
  expect([first.status, first.headers['location']]).toEqual([303, '/auth/']);
  const before = browser.cookies.get('oauth_service_session');
  // prompt=login requires a new login despite the session.
  await provider.logIn(browser, { claims: { sub: 'valid' } }, `/auth/login${request({ prompt: 'login' })}`);
  expect(browser.cookies.get('oauth_service_session')).not.toBe(before);
  const old = app.browser();
  old.cookies.set('oauth_service_session', before ?? '');
  expect((await old.get('/auth/')).headers['location']).toBe('/auth/login');
});

const now = () => Math.floor(Date.now() / 1000);
const other = 'https://other.example.com';

const FORGERIES: [rule: string, forgery: () => Forgery | Promise<Forgery>][] = [
  ['from another issuer', () => ({ claims: { iss: other } })],
  ['for another client', () => ({ claims: { aud: 'another' } })],
  ['for another authorized party', () => ({ claims: { aud: [FORGER_CLIENT.id, 'b'], azp: 'b' } })],
  ['with another nonce', () => ({ claims: { nonce: 'another' } })],
  ['after its expiry', () => ({ claims: { iat: now() - 100, exp: now() - 50 } })],
  ['without a subject', () => ({ claims: { sub: undefined } as never })],
  ['with a subject of 256 characters', () => ({ claims: { sub: 'a'.repeat(256) } })],
  ['with a subject that contains a NUL', () => ({ claims: { sub: 'a\0' } })],
  ['with a subject that is not ASCII', () => ({ claims: { sub: 'é' } })],
  ['without a signature', () => ({ idToken: (valid) => new UnsecuredJWT(claimsOf(valid)).encode() })],
  ['with a modified claim', () => ({ idToken: (valid) => withClaim(valid, { sub: 'victim' }) })],
  ['if it is signed with the client secret', async () => signedWithSecret()],
  ['with an unknown key', () => ({ header: { kid: 'unknown' } })],
  ['if it is missing', () => ({ idToken: () => undefined })],
  ['with userinfo of another subject', () => ({ userInfo: { sub: 'victim' } })],
  ['without a valid e-mail', () => ({ claims: { email: 'nobody' } })],
];

function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<
    string,
    unknown
  >;
}

function withClaim(token: string, claims: object): string {
  const [header, , signature] = token.split('.');
  const payload = Buffer.from(JSON.stringify({ ...claimsOf(token), ...claims })).toString('base64url');
  return `${header}.${payload}.${signature}`;
}

/** Signs an ID token with the client secret to test algorithm confusion (RFC 8725 3.1). */
async function signedWithSecret(): Promise<Forgery> {
  const secret = new TextEncoder().encode(FORGER_CLIENT.secret.padEnd(32, '0'));
  const signed = await new SignJWT({ iss: provider.issuer, aud: FORGER_CLIENT.id, sub: 'ada' })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuedAt()
    .setExpirationTime('1m')
    .sign(secret);
  return { idToken: () => signed };
}

describe('an ID token', () => {
  // OpenID Connect Core 3.1.3.7
  it.each(FORGERIES)('is rejected %s', async (_rule, forgery) => {
    const answer = await provider.logIn(app.browser(), await forgery(), `/auth/login${request()}`);
    expect([answer.status, h1Of(answer)]).toEqual([403, 'Login failed']);
    expectNoSession(answer);
    expect(answer.text).toContain(`/auth/login?client_id=${client.clientId}`);
    expect(await usersNamed('victim')).toEqual([]);
  });

  // OpenID Connect Core 3.1.2.1
  it('is rejected if the login is older than max_age', async () => {
    const claims = { auth_time: now() - 1_000 };
    const answer = await provider.logIn(
      app.browser(),
      { claims },
      `/auth/login${request({ max_age: '60' })}`,
    );
    expect(h1Of(answer)).toBe('Login failed');
    expectNoSession(answer);
  });

  it('is rejected for prompt=login if its auth_time is before the request', async () => {
    const claims = { auth_time: now() - 1_000 };
    const answer = await provider.logIn(
      app.browser(),
      { claims },
      `/auth/login${request({ prompt: 'login' })}`,
    );
    expect(h1Of(answer)).toBe('Login failed');
    expectNoSession(answer);
  });

  // OpenID Connect Core 10.1.1
  it('is accepted with a rotated key, even if the keys have just been fetched', async () => {
    for (const kid of ['second', 'third']) {
      await provider.logIn(app.browser());
      await provider.rotate(kid);
      expect((await provider.logIn(app.browser())).status).toBe(303);
    }
  });
});

describe('the authorization response', () => {
  // RFC 9207 2.4
  it.each([
    ['from another issuer', { iss: other }],
    ['without a code', { code: '' }],
  ])('is rejected %s', async (_rule, more) => {
    const browser = app.browser();
    const started = await browser.get('/auth/login');
    const answer = await browser.get(provider.answer(started.headers['location'], more));
    expect(answer.status).toBe(403);
    expectNoSession(answer);
  });

  // OpenID Connect Core 3.1.2.6
  it.each([
    ['access_denied', 403, 'You are not logged in'],
    ['interaction_required', 403, 'Login failed'],
    ['temporarily_unavailable', 503, 'Login is temporarily unavailable'],
  ])('results in an error page for the error %s', async (error, status, title) => {
    const browser = app.browser();
    const started = await browser.get(`/auth/login${request()}`);
    const { searchParams } = new URL(started.headers['location'] ?? '');
    const parameters = { error, state: searchParams.get('state') ?? '', iss: provider.issuer };
    const answer = await browser.get(`/auth/login/callback?${new URLSearchParams(parameters).toString()}`);
    expect([answer.status, h1Of(answer)]).toEqual([status, title]);
    expect(answer.text).toContain(`/auth/login?client_id=${client.clientId}`);
  });

  // @rfc 6749 10.12
  it('is accepted only in the browser that started the login', async () => {
    const [browser, victim] = [app.browser(), app.browser()];
    await victim.get('/auth/login');
    const started = await browser.get(`/auth/login${request()}`);
    const address = provider.answer(started.headers['location']);
    for (const otherBrowser of [victim, app.browser()]) {
      const answer = await otherBrowser.get(address);
      expect([answer.status, h1Of(answer)]).toEqual([400, 'This login has expired']);
      expectNoSession(answer);
    }
    expect((await browser.get(address)).headers['location']).toMatch(/^\/auth\/oauth2\/authorize\?/);
  });

  it('is accepted once, even if the browser sends it several times concurrently', async () => {
    const browser = app.browser();
    const started = await browser.get(`/auth/login${request()}`);
    const address = provider.answer(started.headers['location']);
    const before = provider.state.exchanges;
    const answers = await Promise.all([browser.get(address), browser.get(address), browser.get(address)]);
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    expect(
      answers.filter(({ headers }) => String(headers['set-cookie']).includes('oauth_service_session=')),
    ).toHaveLength(1);
    expect(provider.state.exchanges).toBe(before + 1);
  });

  it('results after half an hour in a page that restarts the authorization request', async () => {
    const browser = app.browser();
    const started = await browser.get(`/auth/login${request()}`);
    for (const key of await app.redis.keys('{login}:transaction:*')) {
      const login = JSON.parse((await app.redis.hget(key, 'login')) ?? '{}') as { startedAt: number };
      await app.redis.hset(
        key,
        'login',
        JSON.stringify({ ...login, startedAt: login.startedAt - 31 * 60_000 }),
      );
    }
    const answer = await browser.get(provider.answer(started.headers['location']));
    expect([answer.status, h1Of(answer)]).toEqual([400, 'This login has expired']);
    expect(answer.text).toContain(`/auth/login?client_id=${client.clientId}`);
  });

  it('results in an error page for an unknown or repeated state', async () => {
    for (const query of ['state=unknown&code=x', 'state=a&state=b', ''])
      expect((await app.browser().get(`/auth/login/callback?${query}`)).status).toBe(400);
  });
});

describe('a provider', () => {
  it.each<[string, Forgery['token']]>([
    ['fails', (response) => response.writeHead(502).end('bad gateway')],
    [
      'sends too many bytes',
      (response) => response.writeHead(200, { 'Content-Type': 'application/json' }).end('x'.repeat(600_000)),
    ],
    ['closes the connection', (response) => response.destroy()],
    ['does not answer', () => undefined],
  ])('results in 503 with a retry link if it %s', async (_how, token) => {
    const answer = await provider.logIn(app.browser(), token ? { token } : {}, `/auth/login${request()}`);
    expect([answer.status, h1Of(answer)]).toEqual([503, 'Login is temporarily unavailable']);
    expect(answer.headers['retry-after']).toBe('5');
    expect(answer.text).toContain(`/auth/login?client_id=${client.clientId}`);
    expectNoSession(answer);
  });

  it('does not prevent a logout while it is down', async () => {
    const browser = app.browser();
    await provider.logIn(browser, {}, `/auth/login${request({ prompt: 'consent' })}`);
    const consent = await browser.get(`/auth/oauth2/authorize${request({ prompt: 'consent' })}`);
    const session = browser.cookies.get('oauth_service_session') ?? '';
    app.clock.ahead = 120_000;
    provider.state.isDown = true;
    const out = await browser.submit(consent, {}, '/auth/logout');
    provider.state.isDown = false;
    expect([out.status, h1Of(out)]).toEqual([503, 'Login is temporarily unavailable']);
    expect(browser.cookies.has('oauth_service_session')).toBe(false);
    browser.cookies.set('oauth_service_session', session);
    expect((await browser.get('/auth/')).headers['location']).toBe('/auth/login');
  });

  // Section 4.3 of OpenID Connect Discovery 1.0
  it.each([
    ['a trailing slash', () => `${provider.issuer}/`],
    ['another host', () => 'https://other.example.com'],
  ])('is not used, and not reported as an outage, if its issuer has %s', async (_, issuer) => {
    app.clock.ahead = 120_000;
    provider.state.metadata = { issuer: issuer() };
    const answer = await app.browser().get('/auth/login');
    provider.state.metadata = {};
    expect([answer.status, h1Of(answer)]).toEqual([403, 'Login failed']);
  });
});

// OpenID Connect Core 5.7
describe('an e-mail address', () => {
  const link = async (sub: string, email: string, forgery: Forgery) =>
    provider.logIn(app.browser(), { ...forgery, claims: { sub, email, ...forgery.claims } });

  it.each<[string, 'true' | 'false', Forgery]>([
    ['if LOGIN_LINK_BY_EMAIL is false', 'false', { claims: { email_verified: true } }],
    ['if it is not verified', 'true', {}],
    ['if it is verified only as text', 'true', { claims: { email_verified: 'true' } }],
  ])('does not link an account %s', async (rule, allowed, forgery) => {
    app.configuration.LOGIN_LINK_BY_EMAIL = allowed;
    const user = await app.user();
    await link(rule, user.email, forgery);
    const [created] = await usersNamed(rule);
    expect(created?.email).toBe(user.email);
    expect(created?.id).not.toBe(user.id);
  });

  it('is not verified by the ID token if it is from UserInfo', async () => {
    app.configuration.LOGIN_LINK_BY_EMAIL = 'true';
    const user = await app.user();
    await link('mixed', 'own@example.com', {
      claims: { email_verified: true },
      userInfo: { email: user.email },
    });
    expect((await usersNamed('mixed'))[0]?.id).not.toBe(user.id);
  });

  it('links an account if it is verified and LOGIN_LINK_BY_EMAIL is true', async () => {
    app.configuration.LOGIN_LINK_BY_EMAIL = 'true';
    const user = await app.user();
    await link('linked', user.email, { claims: { email_verified: true } });
    expect(await usersNamed('linked')).toEqual([{ id: user.id, email: user.email }]);
  });
});

it('an invalid authorization request does not redirect to the provider', async () => {
  const answer = await app.browser().get('/auth/login?client_id=sc_nobody');
  expect(answer.headers['location']).toBe('/auth/oauth2/authorize?client_id=sc_nobody');
});

it('Redis does not contain usable login states, cookies or ID tokens', async () => {
  const browser = app.browser();
  const started = await browser.get('/auth/login');
  const location = new URL(started.headers['location'] ?? '');
  let idToken = '';
  provider.state.forgery = { idToken: (valid) => (idToken = valid) };
  const valueOf = async (key: string): Promise<unknown> => {
    const type = await app.redis.type(key);
    if (type === 'zset') return app.redis.zrange(key, '0', '-1');
    return type === 'hash' ? app.redis.hgetall(key) : app.redis.get(key);
  };
  const inRedis = async () => {
    const found = [];
    for (const key of await app.redis.keys('*')) found.push(key, JSON.stringify(await valueOf(key)));
    return found.join('\n');
  };
  const secrets = [location.searchParams.get('state'), browser.cookies.get('oauth_service_login')];
  for (const secret of secrets) expect(await inRedis()).not.toContain(secret);
  await browser.get(provider.answer(location.href));
  expect(idToken).not.toBe('');
  for (const secret of [idToken, browser.cookies.get('oauth_service_session')])
    expect(await inRedis()).not.toContain(secret);
});
