import { createHash } from 'node:crypto';
import type { Response } from 'supertest';
import { generateClientSecret } from '#oauth/oauth-client.js';
import { REDIRECT_URI } from '#test/support/fixture.js';
import {
  authorizeAddress,
  redirectParameters,
  PASSWORD,
  startAuthorizeApp,
} from '../support/start-authorize-app.js';
import {
  ANSWERED,
  decide,
  EXPIRED,
  expectStartAgain,
  keyOf,
  usePushedRequests,
} from '../support/use-pushed-requests.js';

const AUTHORIZE = '/auth/oauth2/authorize';
const CHALLENGE = createHash('sha256').update('verifier').digest('base64url');

const { app, token, fixture, client, user, push, address } = usePushedRequests();

describe('a pushed authorization request (RFC 9126 4)', () => {
  it('shows the consent page and issues a redeemable code with the pushed state', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(address(await push()));
    expect(page.status).toBe(200);
    expect(page.text).toContain('Calendar Connect');
    const { code = '', ...rest } = redirectParameters((await decide(browser, page)).headers['location']);
    expect(rest).toEqual({ tenant: '7', state: 's 1&é', iss: app.configuration.BASE_URL });
    const answer = await fetch(`${token.url}/api/auth/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        redirect_uri: REDIRECT_URI,
        ...client,
      }),
    });
    expect(answer.status).toBe(200);
  });

  // @rfc 6749 3.3
  it('results in tokens without an optional scope that the user declined (RFC 6749 3.3, 5.1)', async () => {
    const { secret, hash } = generateClientSecret();
    const { clientId } = await app.client(
      {
        secretHash: hash,
        scopes: ['profile:read', 'bookings:read', 'bookings:write'],
        optionalScopes: ['bookings:read', 'bookings:write'],
      },
      REDIRECT_URI,
    );
    const credentials = { client_id: clientId, client_secret: secret };
    const requestUri = await push({ scope: 'profile:read bookings:read bookings:write' }, credentials);
    const browser = await app.loggedIn(user);
    const page = await browser.get(address(requestUri, { client_id: clientId }));
    const choice = { 'allow:bookings:read': 'yes', decision: 'allow' };
    const { code = '' } = redirectParameters(
      (await browser.submit(page, choice, AUTHORIZE)).headers['location'],
    );
    const ask = async (path: string, body: Record<string, string>) => {
      const form = new URLSearchParams({ ...credentials, ...body });
      const answer = await fetch(`${token.url}/api/auth/oauth/${path}`, { method: 'POST', body: form });
      return (await answer.json()) as { scope: string; refresh_token: string };
    };
    const redeem = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI };
    const tokens = await ask('token', redeem);
    expect(tokens.scope).toBe('profile:read bookings:read');
    const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
    const widened = await ask('token', { ...refresh, scope: 'profile:read bookings:write' });
    expect(widened.scope).toBe('profile:read');
    expect((await ask('token', refresh)).scope).toBe('profile:read bookings:read');
  });

  it('is not used up by prompt=none, and may contain ui_locales and login_hint', async () => {
    const browser = app.browser();
    const none = await push({ prompt: 'none' });
    for (const _time of [1, 2])
      expect(redirectParameters((await browser.get(address(none))).headers['location'])['error']).toBe(
        'login_required',
      );
    const hinted = await push({ ui_locales: 'ja', login_hint: 'ada@example.com' });
    const login = await browser.follow(await browser.get(address(hinted)));
    expect(login.text).toContain('<html lang="ja"');
    expect(login.text).toContain('value="ada@example.com"');
  });

  it('needs one login and accepts one decision with prompt=login', async () => {
    const browser = await app.loggedIn(user);
    const requestUri = await push({ prompt: 'login consent' });
    const toLogin = await browser.get(address(requestUri));
    expect(toLogin.headers['location']).toMatch(/^\/auth\/login\?/);
    const login = await browser.follow(toLogin);
    expect(login.text).toContain('Log in again as <bdi>');
    const page = await browser.follow(
      await browser.submit(login, { username: user.email, password: PASSWORD }),
    );
    expect((await decide(browser, page)).headers['location']).toContain('code=');
    expectStartAgain(await browser.get(address(requestUri)), ANSWERED);
  });

  // @rfc 9126 4 @deviation D14
  it('stays valid during a login of nine minutes and for 15 minutes afterwards, which reloads do not extend', async () => {
    const requestUri = await push();
    const browser = app.browser();
    const toLogin = await browser.get(address(requestUri));
    expect(toLogin.headers['location']).toBe(address(requestUri).replace(AUTHORIZE, '/auth/login'));
    const login = await browser.follow(toLogin);
    // Simulates a login that takes nine minutes.
    const left = await app.redis.pttl(keyOf(requestUri));
    await app.redis.pexpire(keyOf(requestUri), left - 540_000);
    const loggedIn = await browser.submit(login, {
      username: user.email,
      password: PASSWORD,
    });
    expect(loggedIn.headers['location']).toBe(address(requestUri));
    const before = performance.now();
    expect((await browser.get(address(requestUri))).status).toBe(200);
    const ttl = await app.redis.pttl(keyOf(requestUri));
    expect(ttl).toBeGreaterThan(899_000 - (performance.now() - before));
    expect(ttl).toBeLessThanOrEqual(900_000);
    await app.redis.expire(keyOf(requestUri), 100);
    for (let reload = 0; reload < 3; reload++)
      expect((await browser.get(address(requestUri))).status).toBe(200);
    expect(await app.redis.ttl(keyOf(requestUri))).toBeLessThanOrEqual(100);
    expect((await decide(browser, await browser.follow(loggedIn))).status).toBe(303);
  });

  it('is extended once by five minutes, even if visitors without a session open it repeatedly', async () => {
    const requestUri = await push();
    const browser = app.browser();
    const login = address(requestUri).replace(AUTHORIZE, '/auth/login');
    const ended = await app.loggedIn(await app.user());
    await app.redis.del(...(await app.redis.keys('session:*')));
    await app.redis.pexpire(keyOf(requestUri), 100_000);
    for (const visit of [
      () => browser.get(address(requestUri)),
      () => app.browser().get(address(requestUri)),
      () => browser.get(login),
      async () => browser.submit(await browser.get(login), { username: user.email, password: 'wrong' }),
      () => ended.get(address(requestUri)),
    ]) {
      await visit();
      const left = await app.redis.pttl(keyOf(requestUri));
      expect(left).toBeGreaterThan(300_000);
      expect(left).toBeLessThanOrEqual(400_000);
    }
  });

  it('overrides the authorization parameters in the URL (RFC 9101 6.3)', async () => {
    const browser = await app.loggedIn(user);
    const ignored = {
      redirect_uri: 'https://evil.example/',
      state: 'other',
      scope: 'root',
      response_type: 'token',
    };
    const page = await browser.get(address(await push(), ignored));
    expect(page.status).toBe(200);
    expect(redirectParameters((await decide(browser, page)).headers['location'])).toMatchObject({
      tenant: '7',
      state: 's 1&é',
      code: expect.stringMatching(/^sac_/),
    });
  });

  // @rfc 9126 2.2
  it('cannot be used by another client, and is still usable by its own client', async () => {
    const requestUri = await push();
    const other = await fixture.client();
    const browser = await app.loggedIn(user);
    expectStartAgain(await browser.get(address(requestUri, { client_id: other.client_id })), EXPIRED);
    expect(await app.redis.ttl(keyOf(requestUri))).toBeLessThanOrEqual(300);
    const page = await browser.get(address(requestUri));
    const stolen = page.text.replaceAll(client.client_id, other.client_id);
    expectStartAgain(await decide(browser, { ...page, text: stolen } as Response), EXPIRED);
    expect((await decide(browser, page)).status).toBe(303);
  });

  // @rfc 9126 4
  it('is validated again when it is opened, because its redirect URI may have been removed', async () => {
    const moved = await fixture.client();
    const requestUri = await push({}, moved);
    await fixture.sql('UPDATE clients SET redirect_uris = $2 WHERE client_id = $1', [
      moved.client_id,
      ['https://new.example.com/'],
    ]);
    const answer = await (await app.loggedIn(user)).get(address(requestUri, { client_id: moved.client_id }));
    expect([answer.status, answer.headers['location']]).toEqual([400, undefined]);
  });
});

describe('an invalid request_uri', () => {
  // @rfc 9126 4
  it.each(['before it was opened', 'while the page was open'])(
    'results in an error page without a redirect when it expired %s',
    async (when) => {
      const requestUri = await push();
      const browser = await app.loggedIn(user);
      const page = when === 'while the page was open' ? await browser.get(address(requestUri)) : null;
      await app.redis.pexpire(keyOf(requestUri), 1);
      while ((await app.redis.exists(keyOf(requestUri))) === 1);
      expectStartAgain(page ? await decide(browser, page) : await browser.get(address(requestUri)), EXPIRED);
    },
  );

  it('results in an error page without a redirect when it has been tampered with', async () => {
    const requestUri = await push();
    const last = requestUri.at(-1) === 'A' ? 'B' : 'A';
    expectStartAgain(await app.browser().get(address(requestUri.slice(0, -1) + last)), EXPIRED);
  });

  const evil = { redirect_uri: REDIRECT_URI, state: 's' };
  const urn = `urn:ietf:params:oauth:request_uri:${'x'.repeat(43)}`;

  it.each([
    ['belongs to another server', { request_uri: 'https://client.example/request.jwt' }],
    ['has no reference', { request_uri: 'urn:ietf:params:oauth:request_uri:' }],
    ['is too long', { request_uri: `urn:ietf:params:oauth:request_uri:${'x'.repeat(3_000)}` }],
    ['contains a NUL', { request_uri: `${urn}\0` }],
    ['is sent with an unknown client', { request_uri: urn, client_id: 'sc_nobody' }],
    ['is sent without a client', { request_uri: urn, client_id: undefined }],
  ])('results in an error page without a redirect when it %s', async (_rule, query) => {
    const answer = await app
      .browser()
      .get(authorizeAddress({ client_id: client.client_id, ...evil, ...query }));
    expect([answer.status, answer.headers['location']]).toEqual([400, undefined]);
    expect(answer.text).not.toContain('x'.repeat(43));
  });

  it.each([`&request_uri=${urn}`, '&client_id=sc_nobody', '&request_uri[a]=b'])(
    'results in an error page without a redirect when a parameter is repeated: %s',
    async (more) => {
      const requestUri = await push();
      const answer = await app.browser().get(address(requestUri) + more);
      expect([answer.status, answer.headers['location']]).toEqual([400, undefined]);
    },
  );
});

describe('a client that must push its requests (RFC 9126)', () => {
  const plain = (clientId: string) =>
    authorizeAddress({ client_id: clientId, redirect_uri: REDIRECT_URI, state: 's1' });

  // @rfc 9126 6
  it('gets invalid_request for other requests, and can use pushed requests (6)', async () => {
    const strict = await fixture.client();
    await fixture.sql('UPDATE clients SET require_par = true WHERE client_id = $1', [strict.client_id]);
    const browser = await app.loggedIn(user);
    expect(
      redirectParameters((await browser.get(plain(strict.client_id))).headers['location']),
    ).toMatchObject({
      error: 'invalid_request',
      error_description: expect.stringContaining('must be pushed'),
      state: 's1',
      iss: app.configuration.BASE_URL,
    });
    const page = await browser.get(address(await push({}, strict), { client_id: strict.client_id }));
    expect((await decide(browser, page)).status).toBe(303);
  });

  // @rfc 9126 4
  it('is any client if REQUIRE_PAR is true (5)', async () => {
    const { services, configuration } = app;
    const { TOKEN_KEYS } = configuration;
    const close = async () => undefined;
    const strict = await startAuthorizeApp({ TOKEN_KEYS, REQUIRE_PAR: 'true' }, { ...services, close });
    try {
      const answer = await strict.browser().get(plain(client.client_id));
      expect(redirectParameters(answer.headers['location'])).toMatchObject({ error: 'invalid_request' });
      const pushed = await strict.browser().get(address(await push()));
      expect(pushed.headers['location']).toMatch(/^\/auth\/login\?/);
    } finally {
      await strict.close();
    }
  });

  it('gets an error page for an unregistered redirect URI', async () => {
    const strict = await fixture.client();
    await fixture.sql('UPDATE clients SET require_par = true WHERE client_id = $1', [strict.client_id]);
    const answer = await app
      .browser()
      .get(
        authorizeAddress({ client_id: strict.client_id, redirect_uri: 'https://evil.example/', state: 's' }),
      );
    expect([answer.status, answer.headers['location']]).toEqual([400, undefined]);
  });
});

describe('PKCE (RFC 7636)', () => {
  // @rfc 7636 4.4
  it('applies to a pushed request', async () => {
    const browser = await app.loggedIn(user);
    const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };
    const page = await browser.get(address(await push(pkce)));
    const { code = '' } = redirectParameters((await decide(browser, page)).headers['location']);
    const grant = await app.redis.hgetall(`grant:${fixture.grantIdOf(code)}`);
    expect(grant['challenge']).toBe(CHALLENGE);
  });
});
