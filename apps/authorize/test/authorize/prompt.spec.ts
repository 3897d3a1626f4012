import { createHash } from 'node:crypto';
import { formsOf } from '#local/demo/html-form.js';
import type { Browser } from '#test/support/browser.js';
import { BASE_URL, redirectParameters } from '../support/start-authorize-app.js';
import {
  allow,
  AUTHORIZE,
  expectCode,
  expectConsentPage,
  expectLogin,
  useRequests,
} from '../support/use-requests.js';

const { app, now, address, consented, logIn, scopes } = useRequests();

async function ageSession({ cookies }: Browser, ms: number): Promise<void> {
  const cookie = cookies.get('oauth_service_session') ?? '';
  const key = `session:${createHash('sha256').update(cookie).digest('base64url')}`;
  const session = JSON.parse((await app.redis.get(key)) ?? '') as { authTime: number };
  await app.redis.set(key, JSON.stringify({ ...session, authTime: session.authTime - ms }));
}

describe('prompt=none (OpenID Connect Core 3.1.2.1)', () => {
  const refused = (error: string) => ({
    tenant: '7',
    x: '/',
    error,
    error_description: expect.any(String),
    error_uri: `${BASE_URL}/api/auth/oauth/errors#${error}`,
    error_reference: expect.stringMatching(/^[\w-]{12}$/),
    state: 's1',
    iss: BASE_URL,
  });
  const prompt = 'none';

  it('returns login_required without a page when the user is not logged in', async () => {
    const answer = await app.browser().get(address({ prompt }));
    expect(answer.status).toBe(303);
    expect(redirectParameters(answer.headers['location'])).toEqual(refused('login_required'));
  });

  // @openid core 3.1.2.1
  it('distinguishes a login that is too old for max_age from no login', async () => {
    const describedFor = async (browser: Browser) => {
      const { headers } = await browser.get(address({ prompt, max_age: '0' }));
      const { error, error_description } = redirectParameters(headers['location']);
      expect(error).toBe('login_required');
      return error_description;
    };
    const tooOld = await describedFor(await app.loggedIn(now.user));
    expect(tooOld).toContain('max_age');
    expect(await describedFor(app.browser())).not.toBe(tooOld);
  });

  it('returns consent_required when consent is needed', async () => {
    const answer = await (await app.loggedIn(now.user)).get(address({ prompt }));
    expect(redirectParameters(answer.headers['location'])).toEqual(refused('consent_required'));
    expect(await scopes()).toEqual([]);
  });

  it('returns a code if the user consented earlier', async () => {
    expectCode(await (await consented()).get(address({ prompt })));
  });
});

it.each(['consent', 'select_account', 'consent select_account'])(
  'prompt=%s shows the consent page despite earlier consent, even for a first-party application',
  async (prompt) => {
    const browser = await consented();
    const page = await browser.get(address({ prompt }));
    expectConsentPage(page);
    expect(page.text).toContain('Not you?');
    expectCode(await allow(browser, page));
    now.client = await app.client({ firstParty: true });
    expectConsentPage(await browser.get(address({ prompt })));
  },
);

describe('prompt=login (OpenID Connect Core 3.1.2.1)', () => {
  const request = () => address({ prompt: 'login' });

  it('requires the password of a logged-in user, and explains why', async () => {
    const browser = await consented();
    expectLogin(await browser.get(request()), request());
    const login = await browser.get(request().replace(AUTHORIZE, '/auth/login'));
    expect(login.status).toBe(200);
    expect(login.text).toContain('Log in again as <bdi>Ada Lovelace</bdi>.');
    expect(login.text).toContain(`value="${now.user.email}"`);
    const before = browser.cookies.get('oauth_service_session');
    const answer = await logIn(browser, login);
    expect(browser.cookies.get('oauth_service_session')).not.toBe(before);
    expectCode(await browser.follow(answer));
  });

  it.each([
    ['is empty', ''],
    ['is a single space', ' '],
  ])('prefills the email of the logged-in user when the login_hint %s', async (_case, login_hint) => {
    const browser = await consented();
    const request = address({ prompt: 'login', login_hint });
    const login = await browser.get(request.replace(AUTHORIZE, '/auth/login'));
    expect(login.text).toContain(`value="${now.user.email}"`);
  });

  it('does not name the logged-in user when the login_hint names another user', async () => {
    const browser = await consented();
    const request = address({ prompt: 'login', login_hint: 'grace@example.com' });
    const login = await browser.get(request.replace(AUTHORIZE, '/auth/login'));
    expect(login.text).toContain('value="grace@example.com"');
    expect(login.text).not.toContain('Ada Lovelace');
  });

  it('accepts each login once, and only for its own request', async () => {
    const browser = await consented();
    const login = () => browser.get(request().replace(AUTHORIZE, '/auth/login'));
    expectCode(await browser.follow(await logIn(browser, await login())));
    expectLogin(await browser.get(request()), request());

    await logIn(browser, await login());
    const answers = await Promise.all(Array.from({ length: 10 }, () => browser.get(request())));
    expect(answers.filter(({ headers }) => headers['location']?.includes('code='))).toHaveLength(1);

    // A login counts only for the request that required it.
    await logIn(browser, await login());
    const other = address({ prompt: 'login', state: 's2' });
    expectLogin(await browser.get(other), other);
    expectLogin(await (await app.loggedIn(now.user)).get(request()), request());
  });

  it('accepts reloads of the consent page until the decision', async () => {
    const browser = app.browser();
    const login = await browser.follow(await browser.get(request()));
    expect(login.text).not.toContain('To continue, confirm');
    const page = await browser.follow(await logIn(browser, login));
    expectConsentPage(page);
    expectConsentPage(await browser.get(request()));
    expect((await browser.get(request().replace(AUTHORIZE, '/auth/login'))).headers['location']).toBe(
      request(),
    );
    const otherTab = await browser.get(request());
    const answer = await allow(browser, page);
    expectCode(answer);
    // The same form gets the same answer again.
    expect((await allow(browser, page)).headers['location']).toBe(answer.headers['location']);
    expectLogin(await allow(browser, otherTab), request());
    expectLogin(await browser.get(request()), request());
  });

  it('accepts the same form again if the first answer was an error', async () => {
    const browser = app.browser();
    const page = await browser.follow(
      await logIn(browser, await browser.follow(await browser.get(request()))),
    );
    await app.sql('ALTER TABLE grants ADD CONSTRAINT none CHECK (false) NOT VALID');
    const failed = await allow(browser, page);
    await app.sql('ALTER TABLE grants DROP CONSTRAINT none');
    expect(failed.status).toBe(500);
    expectCode(await allow(browser, page));
  });

  it('requires a new login after Cancel', async () => {
    const browser = app.browser();
    const login = await browser.follow(await browser.get(request()));
    const page = await browser.follow(await logIn(browser, login));
    const denied = await browser.submit(page, { decision: 'deny' }, AUTHORIZE);
    expect(redirectParameters(denied.headers['location'])['error']).toBe('access_denied');
    expectLogin(await browser.get(request()), request());
  });

  it('rejects a login older than ten minutes', async () => {
    const browser = app.browser();
    const page = await browser.follow(
      await logIn(browser, await browser.follow(await browser.get(request()))),
    );
    await ageSession(browser, 10 * 60_000);
    expectLogin(await allow(browser, page), request());
    expect(await scopes()).toEqual([]);
  });

  it('allows another user to log in', async () => {
    const browser = await consented();
    const otherUser = await app.user('Grace Hopper');
    const login = await browser.get(request().replace(AUTHORIZE, '/auth/login'));
    const page = await browser.follow(await logIn(browser, login, otherUser));
    expectConsentPage(page);
    expect(page.text).toContain('Grace Hopper');
  });
});

// @openid core 3.1.2.1
it('max_age is checked again when the user clicks Allow', async () => {
  const browser = await app.loggedIn(now.user);
  const page = await browser.get(address({ max_age: '600' }));
  expectConsentPage(page);
  const form = formsOf(page.text).find(({ action }) => action.startsWith(AUTHORIZE));
  const other = address({ max_age: '0' });
  expectLogin(await browser.post(other, { ...form?.hidden, decision: 'allow' }), other);
  await ageSession(browser, 601_000);
  expectLogin(await allow(browser, page), address({ max_age: '600' }));
  expect(await scopes()).toEqual([]);
});

describe('a session that was ended by logging out everywhere', () => {
  const endSessions = () =>
    app.sql('UPDATE users SET session_generation = session_generation + 1 WHERE id = $1', [now.user.id]);

  it('yields no code, and redirects to the login page without a loop', async () => {
    const browser = await consented();
    const page = await browser.get(address({ prompt: 'consent' }));
    await endSessions();
    const none = await browser.get(address({ prompt: 'none' }));
    expect(redirectParameters(none.headers['location'])['error']).toBe('login_required');
    const login = await browser.get(address().replace(AUTHORIZE, '/auth/login'));
    expect(login.status).toBe(200);
    expect(login.text).not.toContain(now.user.email);
    const refused = await allow(browser, page);
    expectLogin(refused, address({ prompt: 'consent' }));
    expect((await browser.follow(refused)).status).toBe(200);
    expect(await scopes()).toHaveLength(1);
    expectCode(await browser.follow(await logIn(browser, login)));
  });
});

describe('the login page of an authorization request', () => {
  const login = (more: Record<string, string>) =>
    app.browser().get(address(more).replace(AUTHORIZE, '/auth/login'));

  it('names the requesting application, and prefills the login_hint', async () => {
    const page = await login({ login_hint: 'ada"><b>@example.com', ui_locales: 'de' });
    expect(page.text).toContain('Weiter zu <bdi>Calendar Connect</bdi>');
    expect(page.text).toContain('value="ada&quot;&gt;&lt;b&gt;@example.com"');
  });

  it.each<[string, Record<string, string>]>([
    ['with a login_hint that is too long', { login_hint: 'x'.repeat(255) }],
    ['of an unknown client', { client_id: 'sc_unknown' }],
    ['with another redirect URI', { redirect_uri: 'https://evil.example/' }],
  ])('shows neither the application nor the login_hint for a request %s', async (_case, more) => {
    const page = await login(more);
    expect(page.status).toBe(200);
    expect(page.text).not.toContain('Calendar Connect');
    expect(page.text).toMatch(/name="username"\s+value=""/);
    expect(page.headers['content-security-policy']).toContain("form-action 'self';");
  });
});
