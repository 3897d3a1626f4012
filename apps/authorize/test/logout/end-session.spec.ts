import { randomBytes } from 'node:crypto';
import { sessionIdFor, subjectOf } from '#oauth/openid/id-token.js';
import { SigningKeys } from '#oauth/openid/signing-keys.js';
import type { Client } from '#clients/client.js';
import { auditEvents } from '#test/support/audit-trail.js';
import { pkcs8, PUBLIC_ID_TOKEN_KEYS, rsaKey, SIGNING_KEYS } from '#test/support/keys.js';
import { authorizeAddress, BASE_URL, REDIRECT_URI, useAuthorizeApp } from '../support/start-authorize-app.js';
import type { Browser } from '#test/support/browser.js';
import { disableClients } from '#test/support/stored.js';

const { app, user } = useAuthorizeApp({ ID_TOKEN_KEYS: PUBLIC_ID_TOKEN_KEYS });

const AFTER = 'https://app.example.com/after?tenant=7';
const SCOPES = { scopes: ['profile:read', 'openid'] };

let client: Client;
beforeAll(async () => {
  client = await registered();
});

const registered = (more: Parameters<typeof app.client>[0] = {}): Promise<Client> =>
  app.client({
    ...SCOPES,
    postLogoutRedirectUris: [AFTER, 'https://app.example.com/bye'],
    backchannelLogoutUri: null,
    ...more,
  });

const endSession = (parameters: Record<string, string>) =>
  `/auth/logout?${new URLSearchParams(parameters).toString()}`;

async function authenticated(to = client) {
  const browser = await app.loggedIn(user);
  const address = authorizeAddress({
    client_id: to.clientId,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid',
    state: 's',
    prompt: 'consent',
  });
  await browser.submit(await browser.get(address), { decision: 'allow' }, '/auth/oauth2/authorize');
  const [grant] = await app.sql<{ session: string }>(
    'SELECT session FROM grants WHERE client_id = $1 ORDER BY created_at DESC LIMIT 1',
    [to.clientId],
  );
  return { browser, session: grant?.session ?? '' };
}

const idTokenOf = (
  session: string,
  claims: object = {},
  {
    audience = client,
    by = SIGNING_KEYS,
    type = 'JWT',
  }: { audience?: Client; by?: SigningKeys; type?: string } = {},
) =>
  by.sign(
    {
      iss: BASE_URL,
      aud: audience.clientId,
      sub: subjectOf(audience, user.id),
      sid: sessionIdFor(audience.clientId, session),
      // ID tokens have usually expired at a log-out.
      iat: 1_000_000_000,
      exp: 1_000_000_100,
      ...claims,
    },
    'RS256',
    type,
  );

const isLoggedIn = async (browser: Browser): Promise<boolean> => (await browser.get('/auth/')).status === 200;

async function expectQuestion(browser: Browser, address: string) {
  const page = await browser.get(address);
  expect([page.status, /<h1>(.*)<\/h1>/.exec(page.text)?.[1]]).toEqual([200, 'Log out of Scheduling?']);
  expect(await isLoggedIn(browser)).toBe(true);
  return page;
}

describe('the end-session endpoint', () => {
  it('logs out with an ID token in which every claim of the user has its maximum length', async () => {
    const { browser, session } = await authenticated();
    const claims = {
      nonce: 'n'.repeat(512),
      name: 'n'.repeat(100),
      preferred_username: 'u'.repeat(254),
      email: 'e'.repeat(254),
      picture: `https://images.example.com/${'p'.repeat(1_973)}`,
    };
    const hint = await idTokenOf(session, claims);
    expect(hint.length).toBeGreaterThan(4_096);
    expect((await browser.get(endSession({ id_token_hint: hint }))).status).toBe(303);
    expect(await isLoggedIn(browser)).toBe(false);
  });

  // @rp-initiated logout 2 @rp-initiated logout 3
  it('logs out without confirmation for an ID token of the session, and redirects with the state', async () => {
    const { browser, session } = await authenticated();
    const hint = await idTokenOf(session);
    const answer = await browser.get(
      endSession({ id_token_hint: hint, post_logout_redirect_uri: AFTER, state: 'a b&c' }),
    );
    expect([answer.status, answer.headers['location']]).toEqual([303, `${AFTER}&state=a%20b%26c`]);
    expect(await isLoggedIn(browser)).toBe(false);
  });

  it('redirects to the login page without a post_logout_redirect_uri', async () => {
    const { browser, session } = await authenticated();
    const answer = await browser.get(endSession({ id_token_hint: await idTokenOf(session), state: 's' }));
    expect([answer.status, answer.headers['location']]).toEqual([303, '/auth/login?done']);
    expect(await isLoggedIn(browser)).toBe(false);
  });

  it('accepts the pairwise subject of a client', async () => {
    const pairwise = await registered({ sector: 'app.example.com' });
    const { browser, session } = await authenticated(pairwise);
    expect(subjectOf(pairwise, user.id)).not.toBe(String(user.id));
    const hint = await idTokenOf(session, {}, { audience: pairwise });
    expect((await browser.get(endSession({ id_token_hint: hint }))).status).toBe(303);
    expect(await isLoggedIn(browser)).toBe(false);
  });

  it.each([
    ['no parameters', () => ({})],
    ['only a client_id', () => ({ client_id: client.clientId })],
    ['a logout_hint', () => ({ client_id: client.clientId, logout_hint: user.email })],
  ])('asks for confirmation if the request has %s', async (_case, parameters) => {
    const { browser } = await authenticated();
    await expectQuestion(browser, endSession(parameters()));
  });

  // @rp-initiated logout 2
  it.each([
    ['belongs to another session', (session: string) => idTokenOf(`${session}x`)],
    ['belongs to another user', (session: string) => idTokenOf(session, { sub: '0' })],
    ['has no sid', (session: string) => idTokenOf(session, { sid: undefined })],
  ])('asks for confirmation if the ID token %s', async (_case, hintOf) => {
    const { browser, session } = await authenticated();
    await expectQuestion(browser, endSession({ id_token_hint: await hintOf(session) }));
  });

  it('asks for confirmation in the language of ui_locales, and names the application and the user', async () => {
    const { browser } = await authenticated();
    const page = await browser.get(endSession({ client_id: client.clientId, ui_locales: 'de' }));
    expect(page.headers['content-language']).toBe('de');
    expect(page.text).toContain('Von Scheduling abmelden?');
    expect(page.text).toContain('Calendar Connect');
    expect(page.text).toContain('Ada Lovelace');
  });

  it('logs out after the confirmation, and redirects the browser', async () => {
    const { browser } = await authenticated();
    const parameters = { client_id: client.clientId, post_logout_redirect_uri: AFTER, state: 's1' };
    const page = await expectQuestion(browser, endSession(parameters));
    const answer = await browser.submit(page, {}, '/auth/logout/confirm');
    expect([answer.status, answer.headers['location']]).toEqual([303, `${AFTER}&state=s1`]);
    expect(await isLoggedIn(browser)).toBe(false);
  });

  it('does not include the ID token in the page', async () => {
    const { browser, session } = await authenticated();
    const hint = await idTokenOf(`${session}x`);
    expect((await expectQuestion(browser, endSession({ id_token_hint: hint }))).text).not.toContain(hint);
  });

  it('redirects a browser without a session', async () => {
    const parameters = { client_id: client.clientId, post_logout_redirect_uri: AFTER };
    const answer = await app.browser().get(endSession(parameters));
    expect([answer.status, answer.headers['location']]).toEqual([303, AFTER]);
    const page = await app.browser().get('/auth/logout');
    expect([page.status, page.text.includes('You have been logged out.')]).toEqual([200, true]);
  });
});

describe('the end-session endpoint with an invalid request', () => {
  const other = SigningKeys.parse(pkcs8(rsaKey()));
  const cases: [what: string, check: string, parameters: (s: string) => Promise<Record<string, string>>][] = [
    [
      'a forged ID token',
      'id_token_hint_invalid',
      async (s) => ({ id_token_hint: await idTokenOf(s, {}, { by: other }) }),
    ],
    [
      'an ID token of another issuer',
      'id_token_hint_invalid',
      async (s) => ({ id_token_hint: await idTokenOf(s, { iss: 'https://x.example' }) }),
    ],
    [
      'a logout token',
      'id_token_hint_invalid',
      async (s) => ({ id_token_hint: await idTokenOf(s, {}, { type: 'logout+jwt' }) }),
    ],
    ['text in place of an ID token', 'id_token_hint_invalid', async () => ({ id_token_hint: 'x.y.z' })],
    [
      'an ID token of an application other than client_id',
      'id_token_hint_invalid',
      async (s) => ({ id_token_hint: await idTokenOf(s), client_id: (await registered()).clientId }),
    ],
    ['an unknown client_id', 'client_id_unregistered', async () => ({ client_id: 'sc_nobody' })],
    [
      'an unregistered post_logout_redirect_uri',
      'post_logout_redirect_uri_unregistered',
      async (s) => ({ id_token_hint: await idTokenOf(s), post_logout_redirect_uri: `${AFTER}/` }),
    ],
    [
      'a redirect_uri in place of a post_logout_redirect_uri',
      'post_logout_redirect_uri_unregistered',
      async (s) => ({ id_token_hint: await idTokenOf(s), post_logout_redirect_uri: REDIRECT_URI }),
    ],
    [
      'a post_logout_redirect_uri of another application',
      'post_logout_redirect_uri_unregistered',
      async () => ({ client_id: (await app.client(SCOPES)).clientId, post_logout_redirect_uri: AFTER }),
    ],
    [
      'a post_logout_redirect_uri without an application',
      'post_logout_redirect_uri_unregistered',
      async () => ({ post_logout_redirect_uri: AFTER }),
    ],
    ['a long state', 'parameter_invalid', async () => ({ state: randomBytes(600).toString('hex') })],
  ];

  // @rp-initiated logout 2 @rp-initiated logout 3 @rp-initiated logout 4
  it.each(cases)(
    'asks the user, names the failed check and does not redirect to the application: %s',
    async (_what, check, parameters) => {
      const { browser, session } = await authenticated();
      const page = await browser.get(endSession(await parameters(session)));
      expect([page.status, page.headers['location']]).toEqual([400, undefined]);
      expect(page.text).toContain(`<dd><code>${check}</code></dd>`);
      expect(await isLoggedIn(browser)).toBe(true);
      const answer = await browser.submit(page, {}, '/auth/logout/confirm');
      expect([answer.status, answer.headers['location']]).toEqual([303, '/auth/login?done']);
      expect(await isLoggedIn(browser)).toBe(false);
    },
  );

  it('records the failed check when it asks the user', async () => {
    const { clientId } = await app.client(SCOPES);
    const { browser } = await authenticated();
    await browser.get(endSession({ id_token_hint: 'x.y.z', client_id: clientId }));
    const [event] = await auditEvents(app.services.natsUrl, { clientId, types: ['request.refused'] });
    expect(event).toMatchObject({ check: 'id_token_hint_invalid' });
  });

  it('records which part of the ID token is invalid', async () => {
    const { clientId } = await app.client(SCOPES);
    await app.browser().get(endSession({ id_token_hint: 'x.y.z', client_id: clientId }));
    const [event] = await auditEvents(app.services.natsUrl, { clientId, types: ['request.refused'] });
    expect(event).toMatchObject({ check: 'id_token_hint_invalid', detail: { wrong: 'format' } });
  });

  it('shows different titles for a missing application and an unregistered post_logout_redirect_uri', async () => {
    const titleFor = async (named: Record<string, string>) => {
      const page = await app.browser().get(endSession({ ...named, post_logout_redirect_uri: `${AFTER}/` }));
      return /<h1>([^<]*)<\/h1>/.exec(page.text)?.[1];
    };
    expect(await titleFor({})).toBe('This log-out link does not specify an application');
    expect(await titleFor({ client_id: client.clientId })).toBe(
      'The address after the log-out is not registered',
    );
  });

  it('rejects a disabled application without a redirect', async () => {
    const { clientId } = await registered();
    await disableClients(app, clientId);
    const parameters = { client_id: clientId, post_logout_redirect_uri: AFTER };
    const page = await app.browser().get(endSession(parameters));
    expect([page.status, page.headers['location']]).toEqual([403, undefined]);
  });

  it('lets a user log out at the request of a disabled application, without a redirect', async () => {
    const { clientId } = await registered();
    const { browser } = await authenticated();
    await disableClients(app, clientId);
    const page = await browser.get(endSession({ client_id: clientId, post_logout_redirect_uri: AFTER }));
    const answer = await browser.submit(page, {}, '/auth/logout/confirm');
    expect([page.status, answer.headers['location']]).toEqual([403, '/auth/login?done']);
    expect(await isLoggedIn(browser)).toBe(false);
  });

  it('rejects a repeated parameter with an error page', async () => {
    const page = await app.browser().get(`${endSession({ client_id: client.clientId })}&client_id=x`);
    expect([page.status, page.headers['location']]).toEqual([400, undefined]);
  });
});

describe('a posted end-session request', () => {
  // @rp-initiated logout 2
  it('is redirected to the confirmation page if it comes from another site', async () => {
    const { browser } = await authenticated();
    const parameters = { client_id: client.clientId, post_logout_redirect_uri: AFTER, state: 's' };
    const headers = { Origin: 'https://app.example.com', 'Sec-Fetch-Site': 'cross-site' };
    const answer = await browser.post('/auth/logout', parameters, headers);
    expect([answer.status, answer.headers['location']]).toEqual([303, endSession(parameters)]);
    await expectQuestion(browser, answer.headers['location'] ?? '');
  });

  it('does not log out if it has no parameters', async () => {
    const { browser } = await authenticated();
    const answer = await browser.post('/auth/logout', {}, { 'Sec-Fetch-Site': 'cross-site' });
    expect([answer.status, answer.headers['location']]).toEqual([303, '/auth/logout']);
    expect(await isLoggedIn(browser)).toBe(true);
  });

  it.each(['/auth/logout', '/auth/logout/confirm'])(
    'is rejected with a wrong CSRF token at %s',
    async (path) => {
      const { browser } = await authenticated();
      const answer = await browser.post(path, { csrf_token: 'x'.repeat(43) });
      expect(answer.status).toBe(403);
      expect(await isLoggedIn(browser)).toBe(true);
    },
  );

  it('does not count as a confirmation', async () => {
    const { browser } = await authenticated();
    const answer = await browser.post('/auth/logout/confirm', { client_id: client.clientId });
    expect(answer.status).toBe(403);
    expect(await isLoggedIn(browser)).toBe(true);
  });
});

describe('the log-out form', () => {
  it('logs out without confirmation', async () => {
    const browser = await app.loggedIn(user);
    const answer = await browser.submit(await browser.get('/auth/'), {}, '/auth/logout');
    expect([answer.status, answer.headers['location']]).toEqual([303, '/auth/login?done']);
    expect(await isLoggedIn(browser)).toBe(false);
  });

  it('redirects from a consent page to a new login for its request', async () => {
    const browser = await app.loggedIn(user);
    const address = authorizeAddress({
      client_id: client.clientId,
      redirect_uri: REDIRECT_URI,
      state: 's',
      prompt: 'consent',
    });
    const answer = await browser.submit(await browser.get(address), {}, '/auth/logout');
    expect(answer.headers['location']).toBe(address.replace('/auth/oauth2/authorize', '/auth/login'));
    expect(await isLoggedIn(browser)).toBe(false);
  });
});
