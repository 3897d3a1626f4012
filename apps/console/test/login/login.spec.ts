import { createHash, randomBytes } from 'node:crypto';
import { decodeJwt } from 'jose';
import { loadConfiguration } from '#platform/configuration/load-configuration.js';
import { ConsoleConfiguration } from '../../src/console.configuration.js';
import { type Browser, targetOf, wordsOf } from '#test/support/browser.js';
import { type ConsoleApp, startConsoleApp } from '../support/start-console-app.js';

let app: ConsoleApp;

beforeAll(async () => {
  app = await startConsoleApp();
});

afterEach(() => {
  app.clock.ahead = 0;
  app.provider.state.forgery = {};
});

afterAll(() => app.close());

const MINUTE = 60_000;

it('a login returns to the page that the operator opened', async () => {
  const browser = app.browser();
  const refused = await browser.get('/applications?search=cal');
  expect(refused.status).toBe(303);
  const started = await browser.follow(refused);
  expect(targetOf(started)).toContain(`${app.provider.issuer}/authorize?`);
  app.provider.state.forgery = { claims: { groups: ['viewers'] } };
  const finished = await browser.get(app.provider.answer(targetOf(started)));
  expect(finished.headers['location']).toBe('/applications?search=cal');
});

it.each([
  ['another site', 'https://evil.example'],
  ['a path that browsers read as another site', '//evil.example'],
  ['a path with a backslash', '/\\evil.example'],
])('a login returns to the start page instead of %s', async (_, page) => {
  const finished = await app.logIn(app.browser(), { groups: ['viewers'] }, page);
  expect(finished.headers['location']).toBe('/');
});

describe('a user without a role', () => {
  it.each([
    ['none of the groups has a role', { groups: ['cleaners'] }],
    ['the provider sends no groups', {}],
  ])('cannot open a page if %s', async (_, claims) => {
    const browser = app.browser();
    const finished = await app.logIn(browser, claims);
    expect((await browser.follow(finished)).status).toBe(403);
    for (const path of ['/applications', '/users', '/jobs/new', '/health'])
      expect((await browser.get(path)).status).toBe(403);
  });

  it('can log in with another account', async () => {
    const browser = app.browser();
    const refused = await browser.follow(await app.logIn(browser, { groups: ['cleaners'] }));
    const [, link = ''] = /href="(\/login[^"]*)"/.exec(refused.text) ?? [];
    const started = await browser.get(link);
    expect(new URL(targetOf(started)).searchParams.get('prompt')).toBe('select_account');
    app.provider.state.forgery = { claims: { sub: 'grace', groups: ['viewers'] } };
    const finished = await browser.get(app.provider.answer(targetOf(started)));
    expect((await browser.follow(finished)).status).not.toBe(403);
  });

  it('can log out', async () => {
    const browser = app.browser();
    const refused = await browser.follow(await app.logIn(browser, { groups: ['cleaners'] }));
    expect((await browser.submit(refused, {}, '/logout')).status).toBe(200);
    expect((await browser.get('/applications')).headers['location']).toContain('/login?');
  });
});

describe('a log-out', () => {
  it('ends the session here and then at the provider, once, even if it is sent twice', async () => {
    const own = await startConsoleApp({}, app.services);
    own.provider.state.metadata = { end_session_endpoint: `${own.provider.issuer}/logout` };
    const browser = await own.operator('viewer');
    const page = await browser.get('/applications');
    const answers = await Promise.all([0, 1].map(() => browser.submit(page, {}, '/logout')));
    answers.push(await browser.submit(page, {}, '/logout'));
    for (const answer of answers) {
      const { origin, pathname, searchParams } = new URL(targetOf(answer));
      expect(`${origin}${pathname}`).toBe(`${own.provider.issuer}/logout`);
      expect(searchParams.get('post_logout_redirect_uri')).toBe('http://localhost:3004/logged-out');
      const hint = decodeJwt(searchParams.get('id_token_hint') ?? '');
      expect([hint.iss, hint.sub]).toEqual([own.provider.issuer, 'ada']);
    }
    expect((await browser.get('/')).headers['location']).toContain('/login?');
    expect((await browser.get('/logged-out')).status).toBe(200);
    await own.close();
  });

  it('does not open the provider if the provider has no log-out, or if the session had ended', async () => {
    const browser = await app.operator('viewer');
    const page = await browser.get('/applications');
    const answer = await browser.submit(page, {}, '/logout');
    expect([answer.status, targetOf(answer)]).toEqual([200, '']);
    expect((await browser.post('/logout', { form_id: 'other' })).status).toBe(200);
  });

  it('stores nothing without a session', async () => {
    const keys = () => app.redis.keys('*');
    const before = await keys();
    const sent = ['a', 'b'].map((id) => app.browser().post('/logout', { form_id: id }));
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await keys()).toSorted()).toEqual(before.toSorted());
  });

  it.each([
    ['named by Sec-Fetch-Site', { 'Sec-Fetch-Site': 'cross-site' }, 403],
    ['named by Origin', { Origin: 'https://evil.example' }, 403],
    // SameSite=Lax: the browser sends no cookie.
    ['that the browser does not name', {}, 200],
  ])('does not clear the cookie for another site %s', async (_, headers, status) => {
    const answer = await app.browser().post('/logout', { form_id: 'any' }, headers);
    expect([answer.status, answer.headers['set-cookie']]).toEqual([status, undefined]);
  });

  it('ends the session here even if the provider does not answer', async () => {
    const own = await startConsoleApp({}, app.services);
    const browser = await own.operator('viewer');
    const page = await browser.get('/applications');
    own.clock.ahead = MINUTE;
    own.provider.state.isDown = true;
    expect((await browser.submit(page, {}, '/logout')).status).toBe(200);
    expect((await browser.get('/')).headers['location']).toContain('/login?');
    await own.close();
  });
});

it('each login, admitted or refused, revokes its access token after the last use', async () => {
  const { state } = app.provider;
  state.revoked = [];
  await app.logIn(app.browser(), { groups: ['viewers'] });
  await app.logIn(app.browser(), { groups: ['cleaners'] });
  expect(state.revoked).toEqual(['an-access-token', 'an-access-token']);
});

it('a login succeeds if the provider does not revoke the access token, or cannot', async () => {
  const { state } = app.provider;
  state.canRevoke = false;
  expect((await app.logIn(app.browser(), { groups: ['viewers'] })).status).toBe(303);
  state.canRevoke = true;
  state.revoked = [];
  app.clock.ahead = 30_000;
  state.metadata = { revocation_endpoint: undefined };
  expect((await app.logIn(app.browser(), { groups: ['viewers'] })).status).toBe(303);
  expect(state.revoked).toEqual([]);
  state.metadata = {};
});

it('a callback in a browser that did not start the login is refused', async () => {
  const started = await app.browser().get('/login');
  const other = app.browser();
  await other.get('/login');
  app.provider.state.forgery = { claims: { groups: ['admins'] } };
  expect((await other.get(app.provider.answer(targetOf(started)))).status).toBe(400);
});

it('each login sets a new session cookie and ends the previous session', async () => {
  const browser = await app.operator('viewer');
  const before = browser.cookies.get('oauth_service_console') ?? '';
  await app.logIn(browser, { groups: ['viewers'] });
  expect(browser.cookies.get('oauth_service_console')).not.toBe(before);
  const old = app.browser();
  old.cookies.set('oauth_service_console', before);
  expect((await old.get('/')).headers['location']).toContain('/login?');
});

it('no key in Redis contains the cookie or name of an operator', async () => {
  const browser = await app.operator('viewer', 'grace');
  const cookie = browser.cookies.get('oauth_service_console') ?? '';
  const keys = await app.redis.keys('*');
  expect(keys.some((key) => key.includes(cookie) || key.includes('grace'))).toBe(false);
});

it('the console rejects a session that another process wrote to Redis, or that was moved to another cookie', async () => {
  const keyOf = (cookie: string) =>
    `console:session:${createHash('sha256').update(cookie).digest('base64url')}`;
  const browserWith = async (session: string) => {
    const browser = app.browser();
    const cookie = randomBytes(32).toString('base64url');
    await app.redis.set(keyOf(cookie), session, 'EX', 60);
    browser.cookies.set('oauth_service_console', cookie);
    return browser;
  };
  const now = Date.now();
  const forged = {
    subject: '1',
    name: 'mallory',
    role: 'admin',
    generation: null,
    authTime: now,
    startedAt: now,
  };
  expect((await (await browserWith(JSON.stringify(forged))).get('/users')).status).toBe(303);
  const admin = await app.operator('admin', 'grace');
  const stored = (await app.redis.get(keyOf(admin.cookies.get('oauth_service_console') ?? ''))) ?? '';
  expect(stored).not.toContain('grace');
  expect((await (await browserWith(stored)).get('/users')).status).toBe(303);
});

it('a session ends when its user ends all sessions at this service', async () => {
  const own = await startConsoleApp({ CONSOLE_GROUPS_CLAIM: '', CONSOLE_ROLES: '' }, app.services);
  const profile = { email: 'grace@example.com', username: 'grace', name: 'Grace' };
  const { id } = await own.users.create({ ...profile, passwordHash: '$argon2id$nobody logs in with this' });
  await own.sql(`UPDATE users SET console_role = 'admin'`);
  const [stolen, again] = [own.browser(), own.browser()];
  await own.logIn(stolen, { sub: String(id) });
  expect((await stolen.get('/users')).status).toBe(200);
  await own.users.endSessions(id);
  expect((await stolen.get('/users')).headers['location']).toContain('/login?');
  await own.logIn(again, { sub: String(id) });
  expect((await again.get('/users')).status).toBe(200);
  await own.close();
});

it('a session ends after twelve hours, even while it is used', async () => {
  const browser = await app.operator('viewer');
  app.clock.ahead = 12 * 60 * MINUTE - 10_000;
  expect((await browser.get('/users')).status).toBe(200);
  app.clock.ahead = 12 * 60 * MINUTE + 1_000;
  expect((await browser.get('/users')).headers['location']).toContain('/login?');
});

it('a session ends 30 minutes after its last request', async () => {
  const browser = await app.operator('viewer');
  const [key = ''] = await app.redis.keys('console:session:*');
  await Promise.all(
    (await app.redis.keys('console:session:*')).map((session) => app.redis.expire(session, 60)),
  );
  await browser.get('/');
  const lifetimes = await Promise.all(
    (await app.redis.keys('console:session:*')).map((session) => app.redis.ttl(session)),
  );
  expect(key).not.toBe('');
  expect(Math.max(...lifetimes)).toBeGreaterThan(29 * 60);
  expect(Math.max(...lifetimes)).toBeLessThanOrEqual(30 * 60);
});

describe('a form without a session', () => {
  const kept = () => app.redis.keys('console:form:*');
  const send = (browser: Browser, id: string) =>
    browser.post('/applications/new', { form_id: id, name: 'Rooms' });

  beforeEach(async () => {
    await app.redis.del('none', ...(await kept()));
    await app.resetRateLimits();
  });

  it.each([
    ['a cookie that the browser invented', false],
    ['the cookie of a browser that saw no form', true],
  ])('is not kept for %s', async (_, isIssued) => {
    const other = formIdIn(await (await app.operator('admin')).get('/users'));
    const browser = app.browser();
    if (isIssued) await browser.get('/login');
    else browser.cookies.set('oauth_service_console_browser', randomBytes(32).toString('base64url'));
    for (const id of [randomBytes(16).toString('base64url'), other, 'a.b', '.'])
      expect((await send(browser, id)).headers['location']).toBe('/login?page=%2Fapplications%2Fnew');
    expect(await kept()).toEqual([]);
  });

  it('is kept for at most a hundred forms an hour of all browsers, and later forms only lead to the login', async () => {
    const browser = await app.operator('admin');
    const id = formIdIn(await browser.get('/users'));
    browser.cookies.set('oauth_service_console', randomBytes(32).toString('base64url'));
    for (let n = 0; n < 102; n++) {
      if (n % 20 === 0) await app.redis.del('none', ...(await app.redis.keys('console:rate:forms:*')));
      expect((await send(browser, id)).headers['location']).toContain('/login?page=%2Fapplications%2Fnew');
    }
    expect(await kept()).toHaveLength(100);
  });
});

const formIdIn = ({ text }: { text: string }): string =>
  /name="form_id" value="([^"]*)"/.exec(text)?.[1] ?? '';

it('a log-out requires a form from this site with its CSRF token', async () => {
  const browser = await app.operator('viewer');
  expect((await browser.post('/logout', { form_id: 'any' })).status).toBe(403);
  const page = await browser.get('/applications');
  expect((await browser.submit(page, {}, '/logout', { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403);
  expect((await browser.submit(page, {}, '/logout')).status).toBe(200);
  expect((await browser.get('/')).headers['location']).toContain('/login?');
});

it('a repeated login requires a new authentication at the provider', async () => {
  const browser = app.browser();
  const started = await browser.get('/login?again');
  const asked = new URL(targetOf(started)).searchParams;
  expect([asked.get('prompt'), asked.get('max_age')]).toEqual(['login', '0']);
  const old = Math.floor(Date.now() / 1000) - 60;
  app.provider.state.forgery = { claims: { groups: ['admins'], auth_time: old } };
  expect((await browser.get(app.provider.answer(targetOf(started)))).status).toBe(403);
});

it('the time of the authentication is read only from the ID token', async () => {
  const browser = app.browser();
  const claims = { groups: ['admins'] };
  const userInfo = { auth_time: Math.floor(Date.now() / 1000) + 86_400 };
  expect((await app.provider.logIn(browser, { claims, userInfo }, '/login')).headers['location']).toBe('/');
  expect((await browser.get('/applications/new')).headers['location']).toContain('again=');
});

it('a login whose UserInfo belongs to another user is refused', async () => {
  const claims = { groups: ['admins'] };
  const refused = await app.provider.logIn(app.browser(), { claims, userInfo: { sub: 'grace' } }, '/login');
  expect([refused.status, refused.headers['set-cookie']]).toEqual([400, undefined]);
});

it('the pages are isolated from the window that opened them', async () => {
  const browser = await app.operator('viewer');
  expect((await browser.get('/users')).headers['cross-origin-opener-policy']).toBe('same-origin');
});

// OpenID Connect Core 10.1.1
it('a login succeeds with a new key of the provider, even if the keys have just been fetched', async () => {
  const other = await startConsoleApp({}, app.services);
  const logIn = () => other.logIn(other.browser(), { groups: ['viewers'] });
  expect((await logIn()).headers['location']).toBe('/');
  await other.provider.rotate();
  expect((await logIn()).headers['location']).toBe('/');
  other.provider.state.forgery = {};
  await other.close();
});

it('a login fails with an ID token that the provider has not signed', async () => {
  const forged = (valid: string) => `${valid.slice(0, valid.lastIndexOf('.'))}.${'A'.repeat(342)}`;
  const claims = { groups: ['viewers'] };
  const refused = await app.provider.logIn(app.browser(), { claims, idToken: forged }, '/login');
  expect(refused.status).toBe(400);
});

it('the login page reports a wrong issuer of the login provider, and not an outage', async () => {
  const other = await startConsoleApp({}, app.services);
  other.provider.state.metadata = { issuer: 'https://other.example.com' };
  const page = await other.browser().get('/login');
  expect([page.status, wordsOf(page)]).toEqual([
    502,
    expect.stringContaining('CONSOLE_ISSUER must be exactly the issuer in its metadata'),
  ]);
  await other.close();
});

it('the login page answers 503 while the login provider does not answer', async () => {
  const other = await startConsoleApp({}, app.services);
  other.provider.state.isDown = true;
  expect((await other.browser().get('/login')).status).toBe(503);
  await other.close();
});

it('the console does not start without a login provider', () => {
  const { CONSOLE_ISSUER: _, ...variables } = environment();
  expect(() => loadConfiguration(ConsoleConfiguration, variables)).toThrow('CONSOLE_ISSUER is missing');
  expect(loadConfiguration(ConsoleConfiguration, environment()).CONSOLE_ISSUER).toBe(
    'https://login.example.com',
  );
});

it('the console does not start if stored roles would apply to the subjects of another issuer', () => {
  const { CONSOLE_GROUPS_CLAIM: _, CONSOLE_ROLES: __, ...stored } = environment();
  expect(() => loadConfiguration(ConsoleConfiguration, stored)).toThrow(
    'CONSOLE_GROUPS_CLAIM is missing: it must be set unless CONSOLE_ISSUER is BASE_URL',
  );
  const own = { ...stored, CONSOLE_ISSUER: stored['BASE_URL'] ?? '' };
  expect(loadConfiguration(ConsoleConfiguration, own).CONSOLE_GROUPS_CLAIM).toBe('');
});

it('the console does not start with a client secret of fewer than 128 bits in base64url', () => {
  const withSecret = (length: number) => ({
    ...environment(),
    CONSOLE_CLIENT_SECRET: 's'.repeat(length),
  });
  const rule = 'must be at least 22 characters: 128 random bits, because it also encrypts the sessions';
  expect(() => loadConfiguration(ConsoleConfiguration, withSecret(21))).toThrow(
    `CONSOLE_CLIENT_SECRET ${rule}`,
  );
  expect(() => loadConfiguration(ConsoleConfiguration, withSecret(0))).toThrow(
    'CONSOLE_CLIENT_SECRET is missing',
  );
  expect(loadConfiguration(ConsoleConfiguration, withSecret(22)).CONSOLE_CLIENT_SECRET).toHaveLength(22);
});

const environment = (): Record<string, string> => ({
  CONSOLE_URL: 'https://console.example.com',
  AUTH_URL: 'https://auth.example.com',
  BASE_URL: 'https://api.example.com',
  API_URL: 'https://api.example.com',
  DATABASE_URL: 'postgres://db/oauth',
  REDIS_URL: 'redis://redis',
  NATS_URL: 'nats://nats',
  CONSOLE_ISSUER: 'https://login.example.com',
  CONSOLE_CLIENT_ID: 'console',
  CONSOLE_CLIENT_SECRET: 's'.repeat(22),
  CONSOLE_GROUPS_CLAIM: 'groups',
  CONSOLE_ROLES: 'admins=admin',
});
