import { SignJWT } from 'jose';
import { subjectOf } from '#oauth/openid/id-token.js';
import { PUBLIC_ID_TOKEN_KEYS, SIGNING_KEYS } from '#test/support/keys.js';
import { storedGrant } from '#test/support/stored.js';
import { BASE_URL, redirectParameters } from '../support/start-authorize-app.js';
import { formsOf } from '#local/demo/html-form.js';
import {
  allow,
  AUTHORIZE,
  expectCode,
  expectConsentPage,
  expectLogin,
  useRequests,
} from '../support/use-requests.js';

const { app, now, address, consented, logIn, scopes } = useRequests({ ID_TOKEN_KEYS: PUBLIC_ID_TOKEN_KEYS });

const OPENID = { scope: 'openid', response_type: 'code' };

beforeEach(async () => {
  now.client = await app.client({ scopes: ['profile:read', 'openid', 'profile', 'email'] });
});

const hint = (claims: object) =>
  SIGNING_KEYS.sign({ iss: BASE_URL, aud: now.client.clientId, exp: 1, ...claims }, 'RS256');

const pendingGrant = async () => {
  const sql =
    'SELECT id, auth_time, session FROM grants WHERE client_id = $1 ORDER BY created_at DESC LIMIT 1';
  const [row] = await app.sql<{ id: string; auth_time: string | null; session: string | null }>(sql, [
    now.client.clientId,
  ]);
  return { row, stored: await storedGrant(app.redis, row?.id ?? '') };
};

const errorOf = (location: string | undefined) => redirectParameters(location)['error'];

describe('an authentication request (OpenID Connect Core 3.1.2.1)', () => {
  it('leads to a grant with the nonce in Redis, and with the time and session of the login also in PostgreSQL', async () => {
    const browser = await app.loggedIn(now.user);
    expectCode(await allow(browser, await browser.get(address({ ...OPENID, nonce: 'n-0S6_WzA2Mj' }))));
    const { row, stored } = await pendingGrant();
    expect(JSON.parse(stored['id_token'] ?? '')).toEqual({ nonce: 'n-0S6_WzA2Mj' });
    expect(stored.login).toBe(`${row?.auth_time} ${row?.session}`);
    expect(Number(row?.auth_time)).toBeGreaterThan(1_700_000_000);
    expect(row?.session).toMatch(/^[\w-]{43}$/);
  });

  // @openid core 3.1.2.1
  it('leads to a grant without OpenID Connect parameters if the scope openid is not requested', async () => {
    const browser = await app.loggedIn(now.user);
    const request = address({ scope: 'profile:read', nonce: 'n', claims: '{"id_token":{"email":null}}' });
    expectCode(await allow(browser, await browser.get(request)));
    const { row, stored } = await pendingGrant();
    expect([row?.auth_time, row?.session]).toEqual([null, null]);
    for (const field of ['login', 'id_token']) expect(stored).not.toHaveProperty(field);
    expect(await scopes()).toEqual(['profile:read']);
  });

  it('leads to a grant without OpenID Connect parameters if the user declines the scope openid', async () => {
    now.client = await app.client({ scopes: ['profile:read', 'openid'], optionalScopes: ['openid'] });
    const browser = await app.loggedIn(now.user);
    const request = address({
      client_id: now.client.clientId,
      ...OPENID,
      scope: 'profile:read openid',
      nonce: 'n-1',
    });
    expectCode(await allow(browser, await browser.get(request)));
    const { row, stored } = await pendingGrant();
    expect(await scopes()).toEqual(['profile:read']);
    expect([row?.auth_time, row?.session]).toEqual([null, null]);
    for (const field of ['login', 'id_token']) expect(stored).not.toHaveProperty(field);
  });

  // @rfc 6749 3.3
  it('applies the OpenID Connect parameters and needs no response_type if openid is a default scope', async () => {
    now.client = await app.client({ scopes: ['openid', 'email'] });
    const { clientId } = now.client;
    const claims = '{"id_token":{"email":null}}';
    const request = address({ client_id: clientId, nonce: 'n-1', claims });
    const browser = await app.loggedIn(now.user);
    expectCode(await allow(browser, await browser.get(request)));
    const { row, stored } = await pendingGrant();
    expect(JSON.parse(stored['id_token'] ?? '')).toEqual({ nonce: 'n-1', claims: ['email'] });
    expect(stored.login).toBe(`${row?.auth_time} ${row?.session}`);
    expect(await scopes()).toEqual(['openid email']);
    const [old, other] = [`${request}&max_age=0`, `${request}&id_token_hint=${await hint({ sub: '0' })}`];
    for (const again of [old, other]) expectLogin(await browser.get(again), again);
    const refused = await browser.get(`${request}&request=a.b.c`);
    expect(errorOf(refused.headers['location'])).toBe('request_not_supported');
  });

  // @openid core 3.1.2.1
  it('may be posted, and is redirected to a GET with the same parameters', async () => {
    const { clientId } = now.client;
    const query = new URLSearchParams(address(OPENID).split('?')[1]);
    const answer = await app.browser().post(AUTHORIZE, Object.fromEntries(query));
    expect([answer.status, answer.headers['location']]).toEqual([303, `${AUTHORIZE}?${query.toString()}`]);
    expect(query.get('client_id')).toBe(clientId);
  });

  it('is redirected if it is posted with the fields of the consent form', async () => {
    const browser = await app.loggedIn(now.user);
    const query = new URLSearchParams(address(OPENID).split('?')[1]);
    const answer = await browser.post(address(OPENID), { ...Object.fromEntries(query), decision: 'allow' });
    expect(answer.headers['location']).toMatch(new RegExp(`^${AUTHORIZE}\\?`));
    expect(await scopes()).toEqual([]);
  });

  it('is rejected if it is posted and too long for a URL', async () => {
    const query = new URLSearchParams(address({ ...OPENID, unknown: 'x'.repeat(9_000) }).split('?')[1]);
    expect((await app.browser().post(AUTHORIZE, Object.fromEntries(query))).status).toBe(400);
  });

  // @openid core 6.1
  it.each([
    ['a request object', { request: 'a.b.c' }, 'request_not_supported'],
    ['a request object and no state', { request: 'a.b.c', state: undefined }, 'request_not_supported'],
    ['a missing response_type', { response_type: undefined }, 'invalid_request'],
    [
      'the request_uri of another server',
      { request_uri: 'https://app.example.com/r' },
      'request_uri_not_supported',
    ],
  ])('results in a redirected error for %s (3.1.2.1, 6.1, 6.2)', async (_name, parameters, error) => {
    const answer = await app.browser().get(address({ ...OPENID, ...parameters }));
    expect([answer.status, errorOf(answer.headers['location'])]).toEqual([303, error]);
  });
});

it('an error for a request object uses the response_mode in the object (Form Post Response Mode)', async () => {
  const request = await new SignJWT({ response_mode: 'form_post' })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(Buffer.alloc(32));
  const answer = await app.browser().get(address({ ...OPENID, request }));
  expect(answer.status).toBe(200);
  expect(answer.text).toContain('value="request_not_supported"');
});

describe('the claims parameter (OpenID Connect Core 5.5)', () => {
  // @openid core 5.5
  it('adds the scopes of its claims to the request, and stores the claims for the ID token', async () => {
    const browser = await app.loggedIn(now.user);
    const claims = JSON.stringify({ id_token: { email: null }, userinfo: { name: { essential: true } } });
    const page = await browser.get(address({ ...OPENID, claims }));
    expect(page.text).toContain('View your email address');
    expectCode(await allow(browser, page));
    expect(await scopes()).toEqual(['openid profile email']);
    expect(JSON.parse((await pendingGrant()).stored['id_token'] ?? '')).toEqual({ claims: ['email'] });
  });

  it('cannot add a scope that the client is not registered for', async () => {
    now.client = await app.client({ scopes: ['openid'] });
    const browser = await app.loggedIn(now.user);
    const claims = '{"userinfo":{"email":null}}';
    expectCode(await allow(browser, await browser.get(address({ ...OPENID, claims }))));
    expect(await scopes()).toEqual(['openid']);
  });

  it.each([
    ['is not JSON', 'x'],
    ['is not an object', '[]'],
    ['is too long', JSON.stringify({ id_token: { name: 'x'.repeat(2_100) } })],
  ])('is rejected if it %s', async (_case, claims) => {
    const answer = await app.browser().get(address({ ...OPENID, claims }));
    expect(errorOf(answer.headers['location'])).toBe('invalid_request');
  });
});

describe('id_token_hint (OpenID Connect Core 3.1.2.1)', () => {
  // @openid core 3.1.2.1
  it('is accepted for the logged-in user, even if it has expired', async () => {
    const browser = await app.loggedIn(now.user);
    const id_token_hint = await hint({ sub: String(now.user.id) });
    expectConsentPage(await browser.get(address({ ...OPENID, id_token_hint })));
  });

  it('must contain the pairwise subject for a pairwise client', async () => {
    now.client = await app.client({ scopes: ['openid'], sector: 'app.example.com' });
    const browser = await app.loggedIn(now.user);
    const id_token_hint = await hint({ sub: subjectOf(now.client, now.user.id) });
    expectConsentPage(await browser.get(address({ ...OPENID, id_token_hint })));
    const ofPublicSubject = await hint({ sub: String(now.user.id) });
    const request = address({ ...OPENID, id_token_hint: ofPublicSubject });
    expectLogin(await browser.get(request), request);
  });

  it('yields login_required for another user with prompt=none', async () => {
    const browser = await consented(OPENID);
    const id_token_hint = await hint({ sub: '999' });
    const answer = await browser.get(address({ ...OPENID, id_token_hint, prompt: 'none' }));
    expect(errorOf(answer.headers['location'])).toBe('login_required');
  });

  it('requires a login as the named user, and yields login_required after the login of another user', async () => {
    const browser = await app.loggedIn(now.user);
    const other = await app.user('Grace Hopper');
    const request = address({ ...OPENID, id_token_hint: await hint({ sub: String(other.id) }) });
    expectLogin(await browser.get(request), request);
    const login = await browser.get(request.replace(AUTHORIZE, '/auth/login'));
    expect(login.text).not.toContain(now.user.email);
    expectConsentPage(await browser.follow(await logIn(browser, login, other)));

    const third = await app.loggedIn(now.user);
    const again = await third.get(request.replace(AUTHORIZE, '/auth/login'));
    const answer = await third.follow(await logIn(third, again, now.user));
    expect(errorOf(answer.headers['location'])).toBe('login_required');
    expect(await scopes()).toEqual([]);
  });

  it('prevents the decision if the URL of the submitted form names another user', async () => {
    const browser = await app.loggedIn(now.user);
    const page = await browser.get(
      address({ ...OPENID, id_token_hint: await hint({ sub: String(now.user.id) }) }),
    );
    const other = address({ ...OPENID, id_token_hint: await hint({ sub: '999' }) });
    const form = formsOf(page.text).find(({ action }) => action.startsWith(AUTHORIZE));
    const answer = await browser.post(other, { ...form?.hidden, decision: 'allow' });
    expect(answer.headers['location']).toMatch(/^\/auth\/login\?/);
    expect(await scopes()).toEqual([]);
  });

  it.each([
    ['issued to another client', () => hint({ aud: 'sc_other', sub: '1' })],
    ['issued by another issuer', () => hint({ iss: 'https://evil.example', sub: '1' })],
    ['forged', async () => `${(await hint({ sub: '1' })).slice(0, -4)}AAAA`],
    ['not a JWT', async () => 'x'],
  ])('is rejected if it is %s', async (_what, make) => {
    const answer = await app.browser().get(address({ ...OPENID, id_token_hint: await make() }));
    expect([answer.status, errorOf(answer.headers['location'])]).toEqual([303, 'invalid_request']);
  });

  it('is ignored without the scope openid', async () => {
    const browser = await app.loggedIn(now.user);
    expectConsentPage(await browser.get(address({ scope: 'profile:read', id_token_hint: 'x' })));
  });
});

// @openid core 5.5.1
it('sub in the claims parameter names the expected user (OpenID Connect Core 5.5.1)', async () => {
  const browser = await app.loggedIn(now.user);
  const claims = (sub: number) => JSON.stringify({ id_token: { sub: { value: String(sub) } } });
  const page = await browser.get(address({ ...OPENID, claims: claims(now.user.id) }));
  expectConsentPage(page);
  const withoutPage = async (sub: number) =>
    redirectParameters(
      (await browser.get(address({ ...OPENID, claims: claims(sub), prompt: 'none' }))).headers['location'],
    );
  // An application without consent cannot find out who is logged in.
  const [named, another] = [await withoutPage(now.user.id), await withoutPage(999)];
  expect(another).toEqual({ ...named, error_reference: another['error_reference'] });
  expect(another['error']).toBe('consent_required');
  expectCode(await allow(browser, page));
  expect((await withoutPage(999))['error']).toBe('login_required');
});
