import type { Response } from 'supertest';
import { KeyRing } from '#keys/key-ring.js';
import { grantId, TokenCodec } from '#grants/token-codec.js';
import { LOCALES } from '#oauth/locale.js';
import { SCOPES } from '#test/support/app-settings.js';
import { storedGrant } from '#test/support/stored.js';
import { SCRIPT, SCRIPT_PATH } from '../../src/ui/script.controller.js';
import {
  authorizeAddress,
  BASE_URL,
  PKCE,
  REDIRECT_URI,
  redirectParameters,
  startAuthorizeApp,
  useAuthorizeApp,
} from '../support/start-authorize-app.js';
import { formsOf } from '#local/demo/html-form.js';
import { type Browser, wordsOf } from '#test/support/browser.js';

const AUTHORIZE = '/auth/oauth2/authorize';

const { app, client, user } = useAuthorizeApp();

/** Returns a URL with prompt=consent, because given-consent.spec.ts tests earlier consent. */
const address = (more: Record<string, string | undefined> = {}) =>
  authorizeAddress({
    client_id: client.clientId,
    redirect_uri: REDIRECT_URI,
    state: 's1',
    prompt: 'consent',
    ...more,
  });

describe('the consent page', () => {
  // @rfc 6749 3.1
  it('shows the application, the scopes, the account, and the site to return to', async () => {
    await app.sql("UPDATE clients SET created_at = '2026-03-01T23:30Z' WHERE client_id = $1", [
      client.clientId,
    ]);
    await app.sql("UPDATE users SET time_zone = 'Asia/Tokyo' WHERE id = $1", [user.id]);
    const page = await (await app.loggedIn(user)).get(address());
    expect(page.status).toBe(200);
    expect(page.text).toContain('<title>Allow Calendar Connect to access your account? · Scheduling</title>');
    const words = wordsOf(page);
    expect(words).toContain('Calendar Connect wants to access your Scheduling account');
    expect(words).toContain('Third-party application');
    // The registration was on March 1 in UTC, and on March 2 in the user's time zone.
    expect(words).toContain('Registered on March 2, 2026');
    expect(words).toContain('View your profile');
    expect(words).toContain(user.name);
    expect(words).toContain(user.email);
    expect(words).toContain('You will be redirected to app.example.com');
    expect(words).toContain('You can remove access at any time in Connected applications.');
    expect(page.text).toContain('<a href="/auth/apps">');
    expect(page.text).toMatch(/name="decision" value="allow" data-waits>\s*Allow/);
    expect(page.text).toMatch(/name="decision" value="deny">\s*Cancel/);
  });

  it('marks a first-party application', async () => {
    const own = await app.client({ firstParty: true });
    const page = await (await app.loggedIn(user)).get(address({ client_id: own.clientId }));
    expect(wordsOf(page)).toContain('Official Scheduling application');
  });

  it.each([
    ['com.example.pocket:/callback', 'an app on this device: com.example.pocket'],
    ['http://127.0.0.1/callback', 'an app on this device: 127.0.0.1'],
  ])('describes %s as an app on this device', async (redirectUri, words) => {
    const pocket = await app.client({ type: 'public' }, redirectUri);
    const page = await (
      await app.loggedIn(user)
    ).get(
      address({
        client_id: pocket.clientId,
        redirect_uri: redirectUri,
        ...PKCE,
      }),
    );
    expect(wordsOf(page)).toContain(words);
  });

  it('shows the logo from this site, or the first letter of the name', async () => {
    const browser = await app.loggedIn(user);
    const { clientId, logo } = await app.client({
      logo: { mediaType: 'image/png', image: Buffer.from('an image') },
    });
    const shown = await browser.get(address({ client_id: clientId }));
    expect(shown.text).toContain(`src="/auth/logos/${logo}"`);
    expect((await browser.get(address())).text).toMatch(/class="face" aria-hidden="true">C</);
  });

  it('uses the language requested by the application', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(address({ ui_locales: 'fr' }));
    expect(page.text).toContain('<html lang="fr" dir="ltr">');
    expect(wordsOf(page)).toContain('Calendar Connect souhaite accéder à votre compte Scheduling');
  });

  it.each(LOCALES)('is smaller than 18 KB with its script: %s', async (ui_locales) => {
    const scopes = SCOPES.names;
    const { clientId, logo } = await app.client({
      name: '予'.repeat(100),
      scopes,
      optionalScopes: scopes.slice(1),
      logo: { mediaType: 'image/png', image: Buffer.from('an image') },
    });
    const browser = await app.loggedIn(user);
    const page = await browser.get(address({ client_id: clientId, scope: scopes.join(' '), ui_locales }));
    expect(page.text).toContain(`src="/auth/logos/${logo}"`);
    expect([...page.text.matchAll(/ src="([^"]+)"/g)].map(([, address]) => address)).toEqual([
      SCRIPT_PATH,
      `/auth/logos/${logo}`,
    ]);
    expect(Buffer.byteLength(page.text + SCRIPT)).toBeLessThan(18_000);
  });

  it('keeps the request when the user switches to another account', async () => {
    const browser = await app.loggedIn(user);
    const out = await browser.submit(await browser.get(address()), {}, '/auth/logout');
    expect(out.status).toBe(303);
    expect(out.headers['location']).toBe(address().replace(AUTHORIZE, '/auth/login'));
    expect((await browser.follow(out)).text).toContain('Log in');
  });
});

describe('Allow', () => {
  // @rfc 6749 3.1.2 @rfc 9207 2 @rfc 9700 2.1 @rfc 9700 4.12
  it('sends code, state and iss to the redirect URI, and keeps its query', async () => {
    const browser = await app.loggedIn(user);
    const answer = await browser.submit(await browser.get(address()), { decision: 'allow' }, AUTHORIZE);
    expect(answer.status).toBe(303);
    expect(answer.headers['location']).toMatch(
      /^https:\/\/app\.example\.com\/callback\?tenant=7&x=%2F&code=sac_/,
    );
    expect(redirectParameters(answer.headers['location'])).toEqual({
      tenant: '7',
      x: '/',
      code: expect.stringMatching(/^sac_/),
      state: 's1',
      iss: BASE_URL,
    });
  });

  // @rfc 7636 4.4
  it('records the grant in PostgreSQL, and as pending in Redis for the lifetime of the code', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(address(PKCE));
    const before = Date.now();
    const answer = await browser.submit(page, { decision: 'allow' }, AUTHORIZE);
    const codec = new TokenCodec(KeyRing.parse(app.configuration.TOKEN_KEYS));
    const code = codec.decode(redirectParameters(answer.headers['location'])['code'] ?? '');
    if (!code) throw new Error('the code cannot be decoded');
    const id = grantId(code.handle);
    expect(await app.records.find(id)).toMatchObject({
      userId: user.id,
      clientId: client.clientId,
      scope: 'profile:read',
      revokedAt: null,
    });
    expect(await storedGrant(app.redis, id)).toMatchObject({
      status: 'pending',
      client: client.clientId,
      user: String(user.id),
      scope: 'profile:read',
      redirect_uri: REDIRECT_URI,
      challenge: PKCE.code_challenge,
    });
    const ttl = await app.redis.pttl(`grant:${id}`);
    const after = Date.now();
    // The TTL is 60 s for the code plus 5 s for clock skew, minus the elapsed time.
    expect(ttl).toBeGreaterThan(64_000 - (after - before));
    expect(ttl).toBeLessThanOrEqual(65_000);
    expect(code.expiry).toBeGreaterThan(before / 1000 + 59);
    expect(code.expiry).toBeLessThanOrEqual(after / 1000 + 60);
  });

  describe('again', () => {
    const decide = async (browser: Browser, page: Response, decision = 'allow') =>
      redirectParameters((await browser.submit(page, { decision }, AUTHORIZE)).headers['location']);
    const countGrants = async () => (await app.sql('SELECT id FROM grants')).length;

    it('gets the same code for as long as the code is valid, and no second grant', async () => {
      const browser = await app.loggedIn(user);
      const page = await browser.get(address());
      const before = await countGrants();
      const answers = await Promise.all([1, 2].map(() => decide(browser, page)));
      app.clock.ahead += 30_000;
      answers.push(await decide(browser, page));
      app.clock.ahead -= 30_000;
      expect(new Set(answers.map(({ code }) => code)).size).toBe(1);
      expect(answers[0]?.['code']).toMatch(/^sac_/);
      expect(await countGrants()).toBe(before + 1);
    });

    it('gets another code in another tab or another browser', async () => {
      const [browser, other] = [await app.loggedIn(user), await app.loggedIn(user)];
      const page = await browser.get(address());
      const fields = (from: Response) =>
        formsOf(from.text).find(({ action }) => action.startsWith(AUTHORIZE));
      const form = fields(page)?.hidden['form'] ?? '';
      const { code } = await decide(browser, page);
      const stolen = await other.submit(await other.get(address()), { decision: 'allow', form }, AUTHORIZE);
      const codes = [
        code,
        redirectParameters(stolen.headers['location'])['code'],
        (await decide(browser, await browser.get(address())))['code'],
      ];
      expect(codes).toEqual(codes.map(() => expect.stringMatching(/^sac_/)));
      expect(new Set(codes).size).toBe(3);
    });

    it('is denied after Cancel, which voids the code', async () => {
      const browser = await app.loggedIn(user);
      const page = await browser.get(address());
      const before = await countGrants();
      const { code = '' } = await decide(browser, page);
      expect((await decide(browser, page, 'deny'))['error']).toBe('access_denied');
      const handle = new TokenCodec(KeyRing.parse(app.configuration.TOKEN_KEYS)).decode(code)?.handle;
      expect(await storedGrant(app.redis, grantId(handle ?? Buffer.alloc(0)))).toMatchObject({
        status: 'revoked',
      });
      expect((await decide(browser, page))['error']).toBe('access_denied');
      expect(await countGrants()).toBe(before);
    });
  });

  it('keeps a custom-scheme redirect URI exactly as registered', async () => {
    const redirectUri = 'com.example.pocket:/Callback/%7Eada?Mode=A';
    const pocket = await app.client({ type: 'public' }, redirectUri);
    const browser = await app.loggedIn(user);
    const request = address({ client_id: pocket.clientId, redirect_uri: redirectUri, ...PKCE });
    const answer = await browser.submit(await browser.get(request), { decision: 'allow' }, AUTHORIZE);
    expect(answer.headers['location']).toMatch(/^com\.example\.pocket:\/Callback\/%7Eada\?Mode=A&code=sac_/);
  });

  it('validates the request again', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(address());
    const form = formsOf(page.text).find(({ action }) => action.startsWith(AUTHORIZE));
    const other = address({ redirect_uri: 'https://evil.example/' });
    const answer = await browser.post(other, { ...form?.hidden, decision: 'allow' });
    expect(answer.status).toBe(400);
    expect(answer.headers['location']).toBeUndefined();
  });

  it('redirects to the login page when the session has ended', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(address());
    await app.redis.flushdb();
    const answer = await browser.submit(page, { decision: 'allow' }, AUTHORIZE);
    expect(answer.status).toBe(303);
    expect(answer.headers['location']).toBe(address().replace(AUTHORIZE, '/auth/login'));
  });
});

describe('Cancel', () => {
  // @rfc 6749 4.1.2.1 @rfc 9207 2
  it('sends access_denied, state and iss to the redirect URI, and creates no grant', async () => {
    const browser = await app.loggedIn(user);
    const grants = () => app.sql('SELECT id FROM grants ORDER BY id');
    const before = await grants();
    const answer = await browser.submit(await browser.get(address()), { decision: 'deny' }, AUTHORIZE);
    expect(answer.status).toBe(303);
    expect(redirectParameters(answer.headers['location'])).toEqual({
      tenant: '7',
      x: '/',
      error: 'access_denied',
      error_description: 'the user denied the request',
      error_uri: `${BASE_URL}/api/auth/oauth/errors#access_denied`,
      error_reference: expect.stringMatching(/^[\w-]{12}$/),
      state: 's1',
      iss: BASE_URL,
    });
    expect(await grants()).toEqual(before);
  });
});

describe('the consent form', () => {
  it.each(['', 'ALLOW', 'allow\0'])('is rejected with the decision %j', async (decision) => {
    const browser = await app.loggedIn(user);
    const answer = await browser.submit(await browser.get(address()), { decision }, AUTHORIZE);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('must be allow or deny');
  });
});

describe('the picture of the user', () => {
  const withPicture = async (avatarUrl: string, origins: string) => {
    const { services, configuration } = app;
    const settings = { TOKEN_KEYS: configuration.TOKEN_KEYS, AVATAR_ORIGINS: origins };
    const other = await startAuthorizeApp(settings, { ...services, close: async () => undefined });
    try {
      const person = await other.user();
      await other.sql('UPDATE users SET avatar_url = $2 WHERE id = $1', [person.id, avatarUrl]);
      return await (await other.loggedIn(person)).get(address());
    } finally {
      await other.close();
    }
  };

  it('is shown and allowed by the policy of the page if the operator trusts its origin', async () => {
    const page = await withPicture('https://pictures.example/ada.png?a=1&b=2', 'https://pictures.example');
    expect(page.text).toContain('src="https://pictures.example/ada.png?a=1&amp;b=2"');
    expect(page.headers['content-security-policy']).toContain("img-src 'self' https://pictures.example;");
  });

  it.each([
    ['https://pictures.example/ada.png', ''],
    ['https://pictures.example.evil.example/ada.png', 'https://pictures.example'],
    ['https://pictures.example@evil.example/ada.png', 'https://pictures.example'],
    ['http://pictures.example/ada.png', 'https://pictures.example'],
    ['javascript:alert(1)', 'https://pictures.example'],
    ['ada.png', 'https://pictures.example'],
  ])('is replaced by a letter if its origin is not trusted: %s, trusted: %j', async (avatarUrl, origins) => {
    const page = await withPicture(avatarUrl, origins);
    expect(page.text).toMatch(/class="face person" aria-hidden="true">A</);
    expect(page.text).not.toContain('<img');
    expect(page.headers['content-security-policy']).toContain("img-src 'self';");
  });
});
