import { createHmac } from 'node:crypto';
import { decodeProtectedHeader, SignJWT } from 'jose';
import type { Browser } from '../support/browser.js';
import { expectConsentPage } from '../support/use-requests.js';
import { type AssertionSettings, forged, PRODUCT_URL, ProductKey } from './product.js';
import { CALLBACK, expectRefused, PROFILE, useHandOver } from './use-hand-over.js';

const { app, key, address, challenge, assertion, handOver, logIn, sessions } = useHandOver();

const seconds = () => Math.floor(Date.now() / 1000);
const REFUSED = 'Login failed';
const OUTDATED = 'This login has expired';

/** Sends the form of an assertion for a new challenge, and says what came of it. */
async function attempt(settings: AssertionSettings, words = REFUSED, signer = key): Promise<void> {
  const browser = app.browser();
  const claims = { ...PROFILE, ...settings.claims };
  const before = await sessions();
  const jwt = await signer.assertion(await challenge(browser), { ...settings, claims });
  expectRefused(await handOver(browser, jwt), 403, words);
  expect(await sessions()).toBe(before);
}

describe('an assertion is refused', () => {
  // @rfc 8725 3.8 @rfc 8725 3.9 @rfc 8725 3.11
  it.each<[string, AssertionSettings]>([
    ['for another audience', { claims: { aud: 'https://other.example' } }],
    [
      'for another audience beside ours',
      { claims: { aud: ['http://localhost:3001', 'https://other.example'] } },
    ],
    ['of another issuer', { claims: { iss: 'https://evil.example' } }],
    ['of another type', { header: { typ: 'JWT' } }],
    ['that is older than 60 seconds', { claims: { iat: seconds() - 70, exp: seconds() + 600 } }],
    ['from the future', { claims: { iat: seconds() + 600 } }],
    ['that has expired', { claims: { exp: seconds() - 10 } }],
    ['that names nobody', { claims: { sub: null } }],
  ])('%s', (_case, settings) => attempt(settings));

  it('by another key', () => attempt({}, REFUSED, new ProductKey()));

  // @rfc 8725 2.1 @rfc 8725 3.1
  it.each<[string, object, (input: string) => string]>([
    ['alg none', { alg: 'none' }, () => ''],
    ['HS256 keyed with the public key', { alg: 'HS256' }, hmac(key.pem)],
    ['HS256 keyed with nothing', { alg: 'HS256' }, hmac('')],
  ])('with %s', async (_case, header, sign) => {
    const browser = app.browser();
    const genuine = await assertion(await challenge(browser));
    expectRefused(await handOver(browser, forged(genuine, header, sign)), 403, REFUSED);
  });

  it('for a challenge that we did not sign, though its transaction is this browser’s', async () => {
    const browser = app.browser();
    const issued = await challenge(browser);
    const claims = JSON.parse(Buffer.from(issued.split('.')[1] ?? '', 'base64url').toString()) as {
      jti: string;
    };
    const stranger = new ProductKey();
    const made = new SignJWT(claims).setProtectedHeader({ ...decodeProtectedHeader(issued), alg: 'EdDSA' });
    for (const one of [
      forged(issued, { alg: 'none' }, () => ''),
      await made.sign(stranger.privateKey),
      claims.jti,
      JSON.stringify(claims),
      '',
    ])
      expectRefused(await handOver(browser, await assertion(one)), 403, REFUSED);
    // Nothing was lost: the real challenge can still be answered.
    expect((await handOver(browser, await assertion(issued))).headers['set-cookie']).toBeDefined();
  });

  it.each(['', 'x', 'a.b.c', 'x'.repeat(20_000)])('that is no JWT: %#', async (text) => {
    expectRefused(await handOver(await visited(), text), 403, REFUSED);
  });

  it('in an address, and can then still be sent by the form', async () => {
    const browser = app.browser();
    const jwt = await assertion(await challenge(browser));
    expectRefused(await browser.get(`${CALLBACK}?assertion=${jwt}`), 403, 'by a form');
    expect((await handOver(browser, jwt)).status).toBe(303);
  });

  it('twice in one form', async () => {
    const browser = app.browser();
    const jwt = await assertion(await challenge(browser));
    expectRefused(await browser.post(`${CALLBACK}?`, { 'assertion[a]': jwt }), 403, REFUSED);
  });
});

function hmac(secret: string) {
  return (input: string) => createHmac('sha256', secret).update(input).digest('base64url');
}

describe('a replayed assertion', () => {
  it('begins no session in the same browser, not even after a log-out', async () => {
    const browser = app.browser();
    const jwt = await assertion(await challenge(browser));
    await handOver(browser, jwt);
    const cookie = browser.cookies.get('oauth_service_session');
    const again = await handOver(browser, jwt);
    expect(again.headers['set-cookie']).toBeUndefined();
    expect(browser.cookies.get('oauth_service_session')).toBe(cookie);
    // The back button, or a second click: the user goes on.
    expectConsentPage(await browser.follow(again));
    browser.cookies.delete('oauth_service_session');
    const later = await browser.follow(await handOver(browser, jwt));
    expect(later.headers['location']).toBe(address().replace('/oauth2/authorize', '/login'));
  });

  it('is refused in another browser', async () => {
    const jwt = await assertion(await challenge(app.browser()));
    expectRefused(await handOver(await visited(), jwt), 400, OUTDATED);
  });

  it('begins exactly one session when it comes twelve times at once', async () => {
    const browser = app.browser();
    const jwt = await assertion(await challenge(browser));
    const before = await sessions();
    const answers = await Promise.all(Array.from({ length: 12 }, () => handOver(browser, jwt)));
    expect(answers.filter(({ headers }) => headers['set-cookie'] !== undefined)).toHaveLength(1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]));
    expect(await sessions()).toBe(before + 1);
  });
});

/** A browser that has begun a login of its own. */
async function visited(): Promise<Browser> {
  const browser = app.browser();
  await challenge(browser);
  return browser;
}

// @rfc 6749 10.12
describe('mixed-up browsers', () => {
  it('a victim’s assertion for the attacker’s challenge logs in neither of them', async () => {
    const [attacker, victim] = [await visited(), await visited()];
    const stolen = await challenge(attacker);
    // The attacker sends the victim to the product with that challenge; the victim is logged in there.
    expectRefused(await handOver(victim, await assertion(stolen)), 400, OUTDATED);
    expect((await attacker.get(address())).headers['location']).toMatch(/^\/auth\/login/);
    expect(attacker.cookies.has('oauth_service_session') || victim.cookies.has('oauth_service_session')).toBe(
      false,
    );
  });

  it('an attacker’s assertion does not log a victim in (login CSRF)', async () => {
    const [attacker, victim] = [await visited(), await visited()];
    const own = await assertion(await challenge(attacker), { claims: { sub: 'attacker' } });
    expectRefused(await handOver(victim, own), 400, OUTDATED);
    expect(victim.cookies.has('oauth_service_session')).toBe(false);
  });

  it('an attacker’s assertion does not replace the session of a victim who is logged in', async () => {
    const victim = app.browser();
    await logIn(victim);
    const cookie = victim.cookies.get('oauth_service_session');
    const own = await assertion(await challenge(await visited()), { claims: { sub: 'attacker' } });
    expectRefused(await handOver(victim, own), 400, OUTDATED);
    expect(victim.cookies.get('oauth_service_session')).toBe(cookie);
    expect((await victim.get('/auth/')).text).toContain(PROFILE.email);
  });

  it('a form of another site, which brings no cookie, is sent again from our page, and checked then', async () => {
    const browser = await visited();
    const jwt = await assertion(await challenge(browser));
    const page = await app.browser().post(CALLBACK, { assertion: jwt });
    expect([page.status, page.headers['set-cookie']]).toEqual([200, undefined]);
    expect(page.headers['content-security-policy']).toContain("script-src 'self'; form-action 'self'");
    expectRefused(await app.browser().submit(page, {}, CALLBACK), 400, OUTDATED);
    expectConsentPage(await browser.follow(await browser.submit(page, {}, CALLBACK)));
  });

  it('that page escapes what was sent', async () => {
    const page = await app.browser().post(CALLBACK, { assertion: '"><script>alert(1)</script>' });
    expect(page.text).not.toContain('<script>alert');
  });
});

describe('an expired login', () => {
  it('is refused, and its page starts again with the same request', async () => {
    const browser = app.browser();
    const issued = await challenge(browser);
    for (const name of await app.redis.keys('{login}:transaction:*')) {
      const login = JSON.parse((await app.redis.hget(name, 'login')) ?? '{}') as { startedAt?: number };
      if (login.startedAt === undefined) continue;
      const older = { ...login, startedAt: login.startedAt - 31 * 60_000 };
      await app.redis.hset(name, 'login', JSON.stringify(older));
    }
    const page = await handOver(browser, await assertion(issued));
    expectRefused(page, 400, OUTDATED);
    const start = address().replace('/oauth2/authorize', '/login');
    expect(page.text).toContain(`href="${start.replaceAll('&', '&amp;')}"`);
    expectConsentPage(
      await browser.follow(await handOver(browser, await assertion(await challenge(browser)))),
    );
  });

  it('is forgotten in an hour, and then refused too', async () => {
    const browser = app.browser();
    const issued = await challenge(browser);
    for (const name of await app.redis.keys('{login}:transaction:*')) {
      const ttl = await app.redis.ttl(name);
      expect(ttl).toBeGreaterThan(0);
      expect(ttl).toBeLessThanOrEqual(3600);
      await app.redis.del(name);
    }
    expectRefused(await handOver(browser, await assertion(issued)), 400, OUTDATED);
  });
});

// @rfc 6749 10.15 @rfc 9700 2.1
describe('open redirects', () => {
  const EVIL = ['return_to', 'redirect_uri', 'next', 'to', 'callback'].map(
    (name) => [name, 'https://evil.example/'] as const,
  );

  it('no parameter of the form or its address leads away from here', async () => {
    const browser = app.browser();
    const jwt = await assertion(await challenge(browser), { claims: Object.fromEntries(EVIL) });
    const query = new URLSearchParams(EVIL.map(([name, value]) => [name, value])).toString();
    const answer = await browser.post(`${CALLBACK}?${query}`, {
      ...Object.fromEntries(EVIL),
      assertion: jwt,
    });
    expect(answer.headers['location']).toBe(address());
  });

  it('no parameter of the login leads anywhere but to LOGIN_URL, nor is it handed on', async () => {
    const query = new URLSearchParams(EVIL.map(([name, value]) => [name, value])).toString();
    const { headers } = await app.browser().get(`/auth/login?${query}`);
    expect(headers['location']).toMatch(
      new RegExp(`^${PRODUCT_URL}/oauth-login\\?from=oauth&challenge=[\\w.-]+$`),
    );
  });
});
