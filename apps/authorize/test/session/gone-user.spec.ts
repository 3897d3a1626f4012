import type { Response } from 'supertest';
import { LOCALES } from '#oauth/locale.js';
import type { User } from '#users/user.js';
import { DataSource } from 'typeorm';
import { MESSAGES } from '../../src/ui/i18n/messages.js';
import {
  authorizeAddress,
  PASSWORD,
  REDIRECT_URI,
  redirectParameters,
  useAuthorizeApp,
} from '../support/start-authorize-app.js';
import { blocked } from '#test/support/until.js';
import type { Browser } from '#test/support/browser.js';
import { freshAddress, tryLogin } from '../support/throttle-guesser.js';

const { app, client } = useAuthorizeApp({ TRUSTED_PROXIES: 'loopback' });
let user: User;

beforeEach(async () => {
  user = await app.user();
});

const address = (more: Record<string, string> = {}) =>
  authorizeAddress({ client_id: client.clientId, redirect_uri: REDIRECT_URI, state: 's', ...more });

const redirectOf = ({ status, headers }: Response) => [status, headers['location']?.split('?')[0]];

const login = (username: string, password = PASSWORD, from = freshAddress()) =>
  tryLogin(app, { username, password, from });

const shown = ({ status, text }: Response, username: string) => [
  status,
  text.replaceAll(/name="csrf_token" value="[^"]*"/g, '').replaceAll(username, 'N'),
];

describe('the login of a disabled user', () => {
  it('shows a message after the correct password, and starts no session', async () => {
    await app.accounts.disable(user.id);
    for (const locale of LOCALES) {
      const browser = app.browser();
      const page = await browser.get(`/auth/login?ui_locales=${locale}`, { 'Accept-Language': locale });
      const fields = { username: user.username, password: PASSWORD };
      const before = browser.cookies.get('oauth_service_session');
      const answer = await browser.submit(page, fields);
      expect(answer.status).toBe(403);
      expect(answer.text).toContain(
        `<p role="alert" id="problem">${MESSAGES[locale]['login.problem.disabled']}</p>`,
      );
      expect(answer.headers['set-cookie']).toBeUndefined();
      expect(browser.cookies.get('oauth_service_session')).toBe(before);
      expect(redirectOf(await browser.get('/auth/'))).toEqual([303, '/auth/login']);
    }
    await app.accounts.enable(user.id);
    expect(redirectOf(await login(user.email))).toEqual([303, '/auth/']);
  });

  it('has the same response to a wrong password as the login of an enabled or unknown user', async () => {
    const enabled = await app.user();
    await app.accounts.disable(user.id);
    const answers = await Promise.all(
      [user.email, enabled.email, 'nobody@example.com'].map(async (name) =>
        shown(await login(name, 'a guess'), name),
      ),
    );
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]).toEqual(answers[2]);
    expect(answers[0]?.[0]).toBe(401);
    expect(answers[0]?.[1]).toContain(MESSAGES.en['login.problem.wrong']);
  });

  it('counts wrong passwords, but not correct passwords', async () => {
    await app.accounts.disable(user.id);
    const from = freshAddress();
    const statuses = [];
    for (const password of [PASSWORD, PASSWORD, 'x', PASSWORD, PASSWORD, PASSWORD, PASSWORD])
      statuses.push((await login(user.email, password, from)).status);
    expect(statuses).toEqual([403, 403, 401, 403, 403, 403, 403]);
    const guesses = [];
    for (let guess = 0; guess < 6; guess++) guesses.push((await login(user.email, 'x', from)).status);
    expect(guesses).toEqual([401, 401, 401, 401, 401, 429]);
  });
});

const WAYS: [way: string, end: () => Promise<unknown>][] = [
  ['deleted', () => app.accounts.delete(user.id)],
  ['disabled', () => app.accounts.disable(user.id)],
  [
    'disabled and enabled again',
    () => app.accounts.disable(user.id).then(() => app.accounts.enable(user.id)),
  ],
];

describe.each(WAYS)('a session of a user who was %s', (_way, end) => {
  it('has ended, so that pages redirect to the login page without a loop', async () => {
    for (const path of ['/auth/', '/auth/apps', address()]) {
      user = await app.user();
      const browser = await app.loggedIn(user);
      expect((await browser.get(path)).status).toBe(200);
      await end();
      const answer = await browser.get(path);
      expect(redirectOf(answer)).toEqual([303, '/auth/login']);
      expect((await browser.follow(answer)).status).toBe(200);
    }
  });

  it('cannot grant access, even on a consent page that was already open', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(address());
    await end();
    for (const decision of ['allow', 'deny']) {
      const answer = await browser.submit(page, { decision }, '/auth/oauth2/authorize');
      expect(redirectOf(answer)).toEqual([303, '/auth/login']);
    }
    expect(await app.sql('SELECT 1 FROM grants WHERE user_id = $1', [user.id])).toEqual([]);
  });

  it('is not accepted for prompt=none (OpenID Connect Core 3.1.2.6)', async () => {
    const browser = await app.loggedIn(user);
    await browser.submit(await browser.get(address()), { decision: 'allow' }, '/auth/oauth2/authorize');
    const silent = address({ prompt: 'none' });
    expect(redirectParameters((await browser.get(silent)).headers['location'])).toHaveProperty('code');
    await end();
    expect(redirectParameters((await browser.get(silent)).headers['location'])).toMatchObject({
      error: 'login_required',
    });
  });
});

it('a session is not valid for a later user with the same id', async () => {
  const browser = await app.loggedIn(user);
  await app.accounts.delete(user.id);
  await app.sql(
    `INSERT INTO users (id, username, email, name, password_hash) VALUES ($1, 'heir', 'heir@example.com', 'H', '$argon2id$')`,
    [user.id],
  );
  expect(redirectOf(await browser.get('/auth/'))).toEqual([303, '/auth/login']);
});

describe('Allow', () => {
  async function allowWhile(
    browser: Browser,
    page: Response,
    statement: string,
    id: unknown,
  ): Promise<Response> {
    const source = await new DataSource({ type: 'postgres', url: app.services.databaseUrl }).initialize();
    const runner = source.createQueryRunner();
    await runner.startTransaction();
    await runner.query(statement, [id]);
    const answering = browser.submit(page, { decision: 'allow' }, '/auth/oauth2/authorize');
    await blocked(app);
    await runner.commitTransaction();
    await runner.release();
    await source.destroy();
    return answering;
  }
  const pending = async () => (await app.redis.keys('grant:*')).length;

  it.each([
    ['deleted', 'DELETE FROM users WHERE id = $1'],
    [
      'disabled',
      'UPDATE users SET operator_disabled_at = now(), session_generation = session_generation + 1 WHERE id = $1',
    ],
  ])(
    'issues no code while the user is being %s, and redirects to the login page',
    async (_way, statement) => {
      const browser = await app.loggedIn(user);
      const before = await pending();
      const answer = await allowWhile(browser, await browser.get(address()), statement, user.id);
      expect(redirectOf(answer)).toEqual([303, '/auth/oauth2/authorize']);
      expect(redirectOf(await browser.follow(answer))).toEqual([303, '/auth/login']);
      expect(await pending()).toBe(before);
    },
  );

  it('issues no code while the application is being deleted, and shows an error page', async () => {
    const { clientId } = await app.client();
    const browser = await app.loggedIn(user);
    const before = await pending();
    const page = await browser.get(address({ client_id: clientId }));
    const statement = 'UPDATE clients SET deleted_at = now() WHERE client_id = $1';
    const answer = await allowWhile(browser, page, statement, clientId);
    expect(redirectOf(answer)).toEqual([303, '/auth/oauth2/authorize']);
    expect((await browser.follow(answer)).status).toBe(400);
    expect(await pending()).toBe(before);
  });
});
