import { createHash } from 'node:crypto';
import type { Response } from 'supertest';
import pg from 'pg';
import type { User } from '#directory/user.js';
import { pushedRequestId } from '#authorization/request-uri.js';
import { type AppProcess, startApp } from '#testing/app-process.js';
import { type Fixture, openFixture, REDIRECT_URI, type TestClient } from '#testing/fixture.js';
import { type AuthorizeApp, authorizeAddress, handedBack, startAuthorizeApp } from './authorize-app.js';
import type { Browser } from './browser.js';

const AUTHORIZE = '/auth/oauth2/authorize';
const CHALLENGE = createHash('sha256').update('verifier').digest('base64url');

let app: AuthorizeApp;
let token: AppProcess;
let fixture: Fixture;
let client: TestClient;
let user: User;

beforeAll(async () => {
  app = await startAuthorizeApp();
  const { databaseUrl, redisUrl, natsUrl } = app.services;
  const { AUTH_URL, BASE_URL, TOKEN_KEYS } = app.configuration;
  fixture = await openFixture(app.services, TOKEN_KEYS);
  token = await startApp('token', {
    AUTH_URL,
    BASE_URL,
    TOKEN_KEYS,
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    NATS_URL: natsUrl,
  });
  client = await fixture.client();
  user = await app.user();
}, 60_000);

afterAll(async () => {
  await token.stop();
  await fixture.close();
  await app.close();
});

/** Pushes a request to the token app, as a client does. */
async function push(more: Record<string, string> = {}, by: TestClient = client): Promise<string> {
  const answer = await fetch(`${token.url}/api/auth/oauth/par`, {
    method: 'POST',
    body: new URLSearchParams({ redirect_uri: REDIRECT_URI, state: 's 1&é', ...by, ...more }),
  });
  const { request_uri } = (await answer.json()) as { request_uri: string };
  expect(answer.status).toBe(201);
  return request_uri;
}

const address = (request_uri: string, more: Record<string, string> = {}) =>
  authorizeAddress({ client_id: client.client_id, request_uri, ...more });

const keyOf = (requestUri: string) => `par:${pushedRequestId(requestUri)}`;
const decide = (browser: Browser, page: Response, decision = 'allow') =>
  browser.submit(page, { decision }, AUTHORIZE);
const grants = async () => (await app.redis.keys('grant:*')).length;

function expectStartAgain(answer: Response, words: RegExp): void {
  expect(answer.status).toBe(400);
  expect(answer.headers['location']).toBeUndefined();
  expect(answer.text).toMatch(words);
  expect(answer.text).toContain('start again at the application');
  expect(answer.headers['cache-control']).toBe('no-store');
}

const ANSWERED = /answered already/;
const EXPIRED = /has expired/;

describe('a pushed authorization request (RFC 9126 4)', () => {
  it('asks the user and hands out a code with the pushed state, which redeems', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(address(await push()));
    expect(page.status).toBe(200);
    expect(page.text).toContain('Calendar Connect');
    const { code = '', ...rest } = handedBack((await decide(browser, page)).headers['location']);
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

  it('goes through the login, a reload and the way back, and lives 15 minutes from its first opening', async () => {
    const requestUri = await push();
    expect(await app.redis.ttl(keyOf(requestUri))).toBeLessThanOrEqual(60);
    const browser = app.browser();
    const toLogin = await browser.get(address(requestUri));
    expect(toLogin.headers['location']).toBe(address(requestUri).replace(AUTHORIZE, '/auth/login'));
    const ttl = await app.redis.ttl(keyOf(requestUri));
    expect(ttl).toBeGreaterThan(890);
    expect(ttl).toBeLessThanOrEqual(900);
    const login = await browser.follow(toLogin);
    const loggedIn = await browser.submit(login, {
      username: user.email,
      password: 'correct horse <b>battery</b> staple',
    });
    expect(loggedIn.headers['location']).toBe(address(requestUri));
    await app.redis.expire(keyOf(requestUri), 100);
    for (let reload = 0; reload < 3; reload++)
      expect((await browser.get(address(requestUri))).status).toBe(200);
    expect(await app.redis.ttl(keyOf(requestUri))).toBeLessThanOrEqual(100);
    expect((await decide(browser, await browser.follow(loggedIn))).status).toBe(303);
  });

  it('counts alone: authorization parameters beside it are ignored (RFC 9101 6.3)', async () => {
    const browser = await app.loggedIn(user);
    const beside = {
      redirect_uri: 'https://evil.example/',
      state: 'other',
      scope: 'root',
      response_type: 'token',
    };
    const page = await browser.get(address(await push(), beside));
    expect(page.status).toBe(200);
    expect(handedBack((await decide(browser, page)).headers['location'])).toMatchObject({
      tenant: '7',
      state: 's 1&é',
      code: expect.stringMatching(/^sac_/),
    });
  });

  it('cannot be named by another client, and stays usable for its own', async () => {
    const requestUri = await push();
    const other = await fixture.client();
    const browser = await app.loggedIn(user);
    expectStartAgain(await browser.get(address(requestUri, { client_id: other.client_id })), EXPIRED);
    expect(await app.redis.ttl(keyOf(requestUri))).toBeLessThanOrEqual(60);
    const page = await browser.get(address(requestUri));
    const stolen = page.text.replaceAll(client.client_id, other.client_id);
    expectStartAgain(await decide(browser, { ...page, text: stolen } as Response), EXPIRED);
    expect((await decide(browser, page)).status).toBe(303);
  });

  it('is checked again when it is opened: a redirect URI that was taken away meanwhile is not used', async () => {
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

describe('a pushed request takes one answer', () => {
  it('after Allow every way back leads to a page that says so', async () => {
    const requestUri = await push();
    const browser = await app.loggedIn(user);
    const page = await browser.get(address(requestUri));
    expect((await decide(browser, page)).status).toBe(303);
    const before = await grants();
    expectStartAgain(await decide(browser, page), ANSWERED);
    expectStartAgain(await decide(browser, page, 'deny'), ANSWERED);
    expectStartAgain(await browser.get(address(requestUri)), ANSWERED);
    expectStartAgain(await (await app.loggedIn(await app.user())).get(address(requestUri)), ANSWERED);
    expect(await grants()).toBe(before);
  });

  it('Deny is an answer, too', async () => {
    const requestUri = await push();
    const browser = await app.loggedIn(user);
    const page = await browser.get(address(requestUri));
    expect(handedBack((await decide(browser, page, 'deny')).headers['location'])).toMatchObject({
      error: 'access_denied',
      state: 's 1&é',
    });
    expectStartAgain(await decide(browser, page), ANSWERED);
  });

  it('gives one code to 20 parallel Allows', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(address(await push()));
    const before = await grants();
    const answers = await Promise.all(Array.from({ length: 20 }, () => decide(browser, page)));
    const won = answers.filter(({ status }) => status === 303);
    expect(won).toHaveLength(1);
    expect(handedBack(won[0]?.headers['location'])['code']).toMatch(/^sac_/);
    for (const lost of answers.filter((answer) => answer !== won[0])) expectStartAgain(lost, ANSWERED);
    expect(await grants()).toBe(before + 1);
  });

  it('gives one answer to Allow and Deny at once', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(address(await push()));
    const decisions = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? 'allow' : 'deny'));
    const answers = await Promise.all(decisions.map((decision) => decide(browser, page, decision)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
  });

  it('is not used up by a decision that is none, nor by one from another site', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(address(await push()));
    expect((await decide(browser, page, 'perhaps')).status).toBe(400);
    const forged = await browser.post(page.request.url.replace(/^https?:\/\/[^/]+/, ''), {
      decision: 'allow',
    });
    expect(forged.status).toBe(403);
    expect((await decide(browser, page)).status).toBe(303);
  });

  it('is not used up by an Allow that failed: the user can repeat it', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(address(await push()));
    const database = new pg.Client({ connectionString: app.services.databaseUrl });
    await database.connect();
    await database.query('ALTER TABLE grants RENAME TO away');
    const failed = await decide(browser, page);
    await database.query('ALTER TABLE away RENAME TO grants');
    await database.end();
    expect(failed.status).toBe(500);
    expect((await decide(browser, page)).status).toBe(303);
  });

  it('is not used up by an Allow whose session has ended', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(address(await push()));
    const sessions = await app.redis.keys('session:*');
    await app.redis.del(...sessions);
    const answer = await decide(browser, page);
    expect(answer.headers['location']).toMatch(/^\/auth\/login\?/);
    const login = await browser.follow(answer);
    const again = await browser.submit(login, {
      username: user.email,
      password: 'correct horse <b>battery</b> staple',
    });
    expect((await decide(browser, await browser.follow(again))).status).toBe(303);
  });
});

describe('a request_uri that leads nowhere gets an error page and never a redirect', () => {
  it.each(['before it is opened', 'while the page is open'])('expired %s', async (when) => {
    const requestUri = await push();
    const browser = await app.loggedIn(user);
    const page = when === 'while the page is open' ? await browser.get(address(requestUri)) : null;
    await app.redis.pexpire(keyOf(requestUri), 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expectStartAgain(page ? await decide(browser, page) : await browser.get(address(requestUri)), EXPIRED);
  });

  it('tampered with', async () => {
    const requestUri = await push();
    const last = requestUri.at(-1) === 'A' ? 'B' : 'A';
    expectStartAgain(await app.browser().get(address(requestUri.slice(0, -1) + last)), EXPIRED);
  });

  const evil = { redirect_uri: REDIRECT_URI, state: 's' };
  const urn = `urn:ietf:params:oauth:request_uri:${'x'.repeat(43)}`;

  it.each([
    ['of another server', { request_uri: 'https://client.example/request.jwt' }],
    ['with no reference', { request_uri: 'urn:ietf:params:oauth:request_uri:' }],
    ['over-long', { request_uri: `urn:ietf:params:oauth:request_uri:${'x'.repeat(3_000)}` }],
    ['with NUL', { request_uri: `${urn}\0` }],
    ['beside an unknown client', { request_uri: urn, client_id: 'sc_nobody' }],
    ['beside no client', { request_uri: urn, client_id: undefined }],
  ])('%s', async (_rule, query) => {
    const answer = await app
      .browser()
      .get(authorizeAddress({ client_id: client.client_id, ...evil, ...query }));
    expect([answer.status, answer.headers['location']]).toEqual([400, undefined]);
    expect(answer.text).not.toContain('x'.repeat(43));
  });

  it.each([`&request_uri=${urn}`, '&client_id=sc_nobody', '&request_uri[a]=b'])(
    'repeated: %s',
    async (more) => {
      const requestUri = await push();
      const answer = await app.browser().get(address(requestUri) + more);
      expect([answer.status, answer.headers['location']]).toEqual([400, undefined]);
    },
  );
});

describe('a client that must push', () => {
  const plain = (clientId: string) =>
    authorizeAddress({ client_id: clientId, redirect_uri: REDIRECT_URI, state: 's1' });

  it('gets invalid_request for any other request, and its pushed one through (6)', async () => {
    const strict = await fixture.client();
    await fixture.sql('UPDATE clients SET require_par = true WHERE client_id = $1', [strict.client_id]);
    const browser = await app.loggedIn(user);
    expect(handedBack((await browser.get(plain(strict.client_id))).headers['location'])).toMatchObject({
      error: 'invalid_request',
      error_description: expect.stringContaining('must be pushed'),
      state: 's1',
      iss: app.configuration.BASE_URL,
    });
    const page = await browser.get(address(await push({}, strict), { client_id: strict.client_id }));
    expect((await decide(browser, page)).status).toBe(303);
  });

  it('is every client with REQUIRE_PAR (5)', async () => {
    const { services, configuration } = app;
    const { TOKEN_KEYS } = configuration;
    const close = async () => undefined;
    const strict = await startAuthorizeApp({ TOKEN_KEYS, REQUIRE_PAR: 'true' }, { ...services, close });
    try {
      const answer = await strict.browser().get(plain(client.client_id));
      expect(handedBack(answer.headers['location'])).toMatchObject({ error: 'invalid_request' });
      const pushed = await strict.browser().get(address(await push()));
      expect(pushed.headers['location']).toMatch(/^\/auth\/login\?/);
    } finally {
      await strict.close();
    }
  });

  it('keeps its redirect error from an unregistered address', async () => {
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

describe('PKCE', () => {
  it('goes with the pushed request', async () => {
    const browser = await app.loggedIn(user);
    const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };
    const page = await browser.get(address(await push(pkce)));
    const { code = '' } = handedBack((await decide(browser, page)).headers['location']);
    const grant = await app.redis.hgetall(`grant:${fixture.grantIdOf(code)}`);
    expect(grant['challenge']).toBe(CHALLENGE);
  });
});
