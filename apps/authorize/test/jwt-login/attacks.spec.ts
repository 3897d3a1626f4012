import { createHmac } from 'node:crypto';
import { decodeProtectedHeader, SignJWT } from 'jose';
import type { Browser } from '#test/support/browser.js';
import { expectConsentPage } from '../support/use-requests.js';
import {
  type AssertionSettings,
  CALLBACK,
  expectRefused,
  forged,
  PRODUCT_URL,
  ProductKey,
  PROFILE,
  useJwtLogin,
} from './use-jwt-login.js';

const { app, key, address, challenge, assertion, jwtLogin, logIn, sessions } = useJwtLogin();

const seconds = () => Math.floor(Date.now() / 1000);
const REFUSED = 'Login failed';
const OUTDATED = 'This login has expired';

async function expectRejection(settings: AssertionSettings, words = REFUSED, signer = key): Promise<void> {
  const browser = app.browser();
  const claims = { ...PROFILE, ...settings.claims };
  const before = await sessions();
  const jwt = await signer.assertion(await challenge(browser), { ...settings, claims });
  expectRefused(await jwtLogin(browser, jwt), 403, words);
  expect(await sessions()).toBe(before);
}

describe('an assertion', () => {
  // @rfc 8725 3.8 @rfc 8725 3.9 @rfc 8725 3.11
  it.each<[string, AssertionSettings]>([
    ['for another audience', { claims: { aud: 'https://other.example' } }],
    ['for several audiences', { claims: { aud: ['http://localhost:3001', 'https://other.example'] } }],
    ['from another issuer', { claims: { iss: 'https://evil.example' } }],
    ['with another type', { header: { typ: 'JWT' } }],
    ['more than 60 seconds after it was issued', { claims: { iat: seconds() - 70, exp: seconds() + 600 } }],
    ['before it was issued', { claims: { iat: seconds() + 600 } }],
    ['after its expiry', { claims: { exp: seconds() - 10 } }],
    ['without a subject', { claims: { sub: null } }],
  ])('is rejected %s', (_case, settings) => expectRejection(settings));

  it('is rejected if another key signed it', () => expectRejection({}, REFUSED, new ProductKey()));

  // @rfc 8725 2.1 @rfc 8725 3.1
  it.each<[string, object, (input: string) => string]>([
    ['alg none', { alg: 'none' }, () => ''],
    ['HS256 keyed with the public key', { alg: 'HS256' }, hmac(key.pem)],
    ['HS256 keyed with an empty secret', { alg: 'HS256' }, hmac('')],
  ])('is rejected with %s', async (_case, header, sign) => {
    const browser = app.browser();
    const genuine = await assertion(await challenge(browser));
    expectRefused(await jwtLogin(browser, forged(genuine, header, sign)), 403, REFUSED);
  });

  it('is rejected for a challenge with a wrong signature, even in the browser of the login', async () => {
    const browser = app.browser();
    const issued = await challenge(browser);
    const claims = JSON.parse(Buffer.from(issued.split('.')[1] ?? '', 'base64url').toString()) as {
      jti: string;
    };
    const otherKey = new ProductKey();
    const made = new SignJWT(claims).setProtectedHeader({ ...decodeProtectedHeader(issued), alg: 'EdDSA' });
    for (const challenge of [
      forged(issued, { alg: 'none' }, () => ''),
      await made.sign(otherKey.privateKey),
      claims.jti,
      JSON.stringify(claims),
      '',
    ])
      expectRefused(await jwtLogin(browser, await assertion(challenge)), 403, REFUSED);
    // The real challenge remains valid.
    expect((await jwtLogin(browser, await assertion(issued))).headers['set-cookie']).toBeDefined();
  });

  it.each([
    ['an empty value', ''],
    ['one part', 'x'],
    ['three parts that are not JSON', 'a.b.c'],
    ['20,000 characters', 'x'.repeat(20_000)],
  ])('is rejected if it is not a JWT: %s', async (_case, text) => {
    expectRefused(await jwtLogin(await visited(), text), 403, REFUSED);
  });

  it('is rejected in a query, but still accepted in a form', async () => {
    const browser = app.browser();
    const jwt = await assertion(await challenge(browser));
    expectRefused(await browser.get(`${CALLBACK}?assertion=${jwt}`), 403, 'with a form');
    expect((await jwtLogin(browser, jwt)).status).toBe(303);
  });

  it('is rejected as a nested field', async () => {
    const browser = app.browser();
    const jwt = await assertion(await challenge(browser));
    expectRefused(await browser.post(`${CALLBACK}?`, { 'assertion[a]': jwt }), 403, REFUSED);
  });
});

function hmac(secret: string) {
  return (input: string) => createHmac('sha256', secret).update(input).digest('base64url');
}

describe('a replayed assertion', () => {
  it('starts no session in the browser that sent it first, even without the session cookie', async () => {
    const browser = app.browser();
    const jwt = await assertion(await challenge(browser));
    await jwtLogin(browser, jwt);
    const cookie = browser.cookies.get('oauth_service_session');
    const again = await jwtLogin(browser, jwt);
    expect(again.headers['set-cookie']).toBeUndefined();
    expect(browser.cookies.get('oauth_service_session')).toBe(cookie);
    // The user can still continue after the back button or a second click.
    expectConsentPage(await browser.follow(again));
    browser.cookies.delete('oauth_service_session');
    const later = await browser.follow(await jwtLogin(browser, jwt));
    expect(later.headers['location']).toBe(address().replace('/oauth2/authorize', '/login'));
  });

  it('is rejected in another browser', async () => {
    const jwt = await assertion(await challenge(app.browser()));
    expectRefused(await jwtLogin(await visited(), jwt), 400, OUTDATED);
  });

  it('starts exactly one session in twelve concurrent requests', async () => {
    const browser = app.browser();
    const jwt = await assertion(await challenge(browser));
    const before = await sessions();
    const answers = await Promise.all(Array.from({ length: 12 }, () => jwtLogin(browser, jwt)));
    expect(answers.filter(({ headers }) => headers['set-cookie'] !== undefined)).toHaveLength(1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]));
    expect(await sessions()).toBe(before + 1);
  });
});

async function visited(): Promise<Browser> {
  const browser = app.browser();
  await challenge(browser);
  return browser;
}

// @rfc 6749 10.12
describe('an assertion in another browser', () => {
  it('logs in neither browser if a victim answers the challenge of an attacker', async () => {
    const [attacker, victim] = [await visited(), await visited()];
    const stolen = await challenge(attacker);
    // The attacker sends a victim, who is logged in at the product, to LOGIN_URL with the attacker's challenge.
    expectRefused(await jwtLogin(victim, await assertion(stolen)), 400, OUTDATED);
    expect((await attacker.get(address())).headers['location']).toMatch(/^\/auth\/login/);
    expect(attacker.cookies.has('oauth_service_session') || victim.cookies.has('oauth_service_session')).toBe(
      false,
    );
  });

  it('does not log in a victim with the account of an attacker (login CSRF)', async () => {
    const [attacker, victim] = [await visited(), await visited()];
    const own = await assertion(await challenge(attacker), { claims: { sub: 'attacker' } });
    expectRefused(await jwtLogin(victim, own), 400, OUTDATED);
    expect(victim.cookies.has('oauth_service_session')).toBe(false);
  });

  it('does not replace the session of a victim who is logged in', async () => {
    const victim = app.browser();
    await logIn(victim);
    const cookie = victim.cookies.get('oauth_service_session');
    const own = await assertion(await challenge(await visited()), { claims: { sub: 'attacker' } });
    expectRefused(await jwtLogin(victim, own), 400, OUTDATED);
    expect(victim.cookies.get('oauth_service_session')).toBe(cookie);
    expect((await victim.get('/auth/')).text).toContain(PROFILE.email);
  });
});

describe('an assertion without the cookie of the login', () => {
  it('is posted again by a page of this service, and then checked', async () => {
    const browser = await visited();
    const jwt = await assertion(await challenge(browser));
    const page = await app.browser().post(CALLBACK, { assertion: jwt });
    expect([page.status, page.headers['set-cookie']]).toEqual([200, undefined]);
    expect(page.headers['content-security-policy']).toContain("script-src 'self'; form-action 'self'");
    expectRefused(await app.browser().submit(page, {}, CALLBACK), 400, OUTDATED);
    expectConsentPage(await browser.follow(await browser.submit(page, {}, CALLBACK)));
  });

  it('is escaped in the page that posts the assertion again', async () => {
    const page = await app.browser().post(CALLBACK, { assertion: '"><script>alert(1)</script>' });
    expect(page.text).not.toContain('<script>alert');
  });
});

describe('an expired login', () => {
  it('is rejected with a page that restarts the authorization request', async () => {
    const browser = app.browser();
    const issued = await challenge(browser);
    for (const name of await app.redis.keys('{login}:transaction:*')) {
      const login = JSON.parse((await app.redis.hget(name, 'login')) ?? '{}') as { startedAt?: number };
      if (login.startedAt === undefined) continue;
      const older = { ...login, startedAt: login.startedAt - 31 * 60_000 };
      await app.redis.hset(name, 'login', JSON.stringify(older));
    }
    const page = await jwtLogin(browser, await assertion(issued));
    expectRefused(page, 400, OUTDATED);
    const start = address().replace('/oauth2/authorize', '/login');
    expect(page.text).toContain(`href="${start.replaceAll('&', '&amp;')}"`);
    expectConsentPage(
      await browser.follow(await jwtLogin(browser, await assertion(await challenge(browser)))),
    );
  });

  it('is deleted after an hour, and is still rejected', async () => {
    const browser = app.browser();
    const issued = await challenge(browser);
    for (const name of await app.redis.keys('{login}:transaction:*')) {
      const ttl = await app.redis.ttl(name);
      expect(ttl).toBeGreaterThan(0);
      expect(ttl).toBeLessThanOrEqual(3600);
      await app.redis.del(name);
    }
    expectRefused(await jwtLogin(browser, await assertion(issued)), 400, OUTDATED);
  });
});

// @rfc 6749 10.15 @rfc 9700 2.1
describe('a redirect target in a parameter', () => {
  const EVIL = ['return_to', 'redirect_uri', 'next', 'to', 'callback'].map(
    (name) => [name, 'https://evil.example/'] as const,
  );

  it('does not change the redirect after the login', async () => {
    const browser = app.browser();
    const jwt = await assertion(await challenge(browser), { claims: Object.fromEntries(EVIL) });
    const query = new URLSearchParams(EVIL.map(([name, value]) => [name, value])).toString();
    const answer = await browser.post(`${CALLBACK}?${query}`, {
      ...Object.fromEntries(EVIL),
      assertion: jwt,
    });
    expect(answer.headers['location']).toBe(address());
  });

  it('does not reach LOGIN_URL', async () => {
    const query = new URLSearchParams(EVIL.map(([name, value]) => [name, value])).toString();
    const { headers } = await app.browser().get(`/auth/login?${query}`);
    expect(headers['location']).toMatch(
      new RegExp(`^${PRODUCT_URL}/oauth-login\\?from=oauth&challenge=[\\w.-]+$`),
    );
  });
});
