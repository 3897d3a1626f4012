import { randomUUID } from 'node:crypto';
import { type JWTPayload, SignJWT } from 'jose';
import request from 'supertest';
import type { Browser } from '#test/support/browser.js';
import { AUTH_URL, PRODUCT_URL, ProductKey } from './product.js';
import { useJwtLogin } from './use-jwt-login.js';

const other = new ProductKey('ES256');
const { app, key, logIn } = useJwtLogin();
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const now = () => Math.floor(Date.now() / 1000);

const valid = (): JWTPayload => ({
  iss: PRODUCT_URL,
  aud: AUTH_URL,
  iat: now(),
  exp: now() + 120,
  jti: randomUUID(),
  events: { [EVENT]: {} },
});

const sign = (claims: JWTPayload, typ: string | undefined = 'logout+jwt', signer = key) =>
  new SignJWT({ ...valid(), ...claims })
    .setProtectedHeader({ alg: signer === other ? 'ES256' : 'EdDSA', ...(typ !== 'absent' && { typ }) })
    .sign(signer.privateKey);

const send = (token: string) =>
  request(app.url).post('/auth/login/back-channel-logout').type('form').send({ logout_token: token });

async function loggedIn(sub: string, sid?: string): Promise<Browser> {
  const browser = app.browser();
  const email = `${sub}@example.com`;
  await browser.follow(await logIn(browser, { sub, email, ...(sid !== undefined && { sid }) }));
  expect(await isLoggedIn(browser)).toBe(true);
  return browser;
}

const isLoggedIn = async (browser: Browser) => (await browser.get('/auth/')).status === 200;

// Section 2.7 of OpenID Connect Back-Channel Logout 1.0
describe('a logout token of the product', () => {
  it('ends the session with its sid, but no other session of the user', async () => {
    const [one, two] = [await loggedIn('ada', 's1'), await loggedIn('ada', 's2')];
    const answer = await send(await sign({ sid: 's1', sub: 'ada' }));
    expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store']);
    expect([await isLoggedIn(one), await isLoggedIn(two)]).toEqual([false, true]);
  });

  it.each([
    ['only a sub', {}, 's3'],
    ['a sid and a sub, and the assertions contained no sid', { sid: 's4' }, undefined],
  ])('ends all sessions of the user if it contains %s', async (rule, claims, sid) => {
    const sub = `u${rule.length}`;
    const [one, two, otherUser] = [await loggedIn(sub, sid), await loggedIn(sub, sid), await loggedIn('eve')];
    expect((await send(await sign({ sub, ...claims }))).status).toBe(200);
    const after = [await isLoggedIn(one), await isLoggedIn(two), await isLoggedIn(otherUser)];
    expect(after).toEqual([false, false, true]);
    expect(await isLoggedIn(await loggedIn(sub))).toBe(true);
  });

  it('prevents the completion of a login with its sid', async () => {
    expect((await send(await sign({ sid: 's5' }))).status).toBe(200);
    const browser = app.browser();
    expect((await logIn(browser, { sid: 's5' })).status).toBe(403);
    expect(await isLoggedIn(browser)).toBe(false);
  });

  // Sections 2.6 and 2.8 of Back-Channel Logout 1.0. The tests in ../external-login cover the claims.
  it.each<[string, () => Promise<string>]>([
    ['from another issuer', () => sign({ sub: 'kay', iss: 'https://other.example.com' })],
    ['for another audience', () => sign({ sub: 'kay', aud: 'https://other.example.com' })],
    ['without a type', () => sign({ sub: 'kay' }, 'absent')],
    ['with the type of an assertion', () => sign({ sub: 'kay' }, 'login+jwt')],
    ['if another key signed it', () => sign({ sub: 'kay' }, 'logout+jwt', other)],
    ['if it is an assertion', () => key.assertion('x', { claims: { sub: 'kay' } })],
    ['if it is malformed', () => Promise.resolve('a.b.c')],
  ])('is rejected %s', async (_rule, token) => {
    const browser = await loggedIn('kay');
    const answer = await send(await token());
    expect([answer.status, answer.body]).toEqual([
      400,
      {
        error: 'invalid_request',
        error_description: 'the logout token is not valid',
        error_reference: expect.any(String),
      },
    ]);
    expect(await isLoggedIn(browser)).toBe(true);
  });
});

it('an assertion whose sid is not a string of 1 to 255 characters is rejected', async () => {
  for (const sid of ['', 'a'.repeat(256), 7]) {
    const answer = await logIn(app.browser(), { sid });
    expect(answer.status).toBe(403);
    expect(answer.text).toContain('its sid must be');
  }
});
