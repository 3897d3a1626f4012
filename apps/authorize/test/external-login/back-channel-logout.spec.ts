import { randomUUID } from 'node:crypto';
import { type JWTPayload, SignJWT } from 'jose';
import request from 'supertest';
import type { Browser } from '#test/support/browser.js';
import { FORGER_CLIENT } from '#test/support/forging-provider.js';
import { useProviderLogin } from '../support/start-authorize-app.js';
import { AUTH_URL, PRODUCT_URL, ProductKey, useJwtLogin } from '../jwt-login/use-jwt-login.js';

describe('back channel logout', () => {
  const { app, provider } = useProviderLogin();

  const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
  const now = () => Math.floor(Date.now() / 1000);

  const valid = (): JWTPayload => ({
    iss: provider.issuer,
    aud: FORGER_CLIENT.id,
    iat: now(),
    exp: now() + 120,
    jti: randomUUID(),
    events: { [EVENT]: {} },
  });

  async function loggedIn(sub: string, sid?: string): Promise<Browser> {
    const browser = app.browser();
    await provider.logIn(browser, {
      claims: { sub, ...(sid !== undefined && { sid }), email: `${sub}@example.com` },
    });
    expect(await isLoggedIn(browser)).toBe(true);
    return browser;
  }

  const isLoggedIn = async (browser: Browser) => (await browser.get('/auth/')).status === 200;

  const send = (token: string) =>
    request(app.url).post('/auth/login/back-channel-logout').type('form').send({ logout_token: token });

  const logOut = async (claims: JWTPayload, typ = 'logout+jwt') =>
    send(await provider.sign({ ...valid(), ...claims }, { typ }));

  describe('a logout token', () => {
    // Section 2.7 of OpenID Connect Back-Channel Logout 1.0
    it('with a sid ends only the session with this sid', async () => {
      const [one, other] = [await loggedIn('ada', 'sid1'), await loggedIn('ada', 'sid2')];
      const answer = await logOut({ sid: 'sid1', sub: 'ada' });
      expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store']);
      expect([await isLoggedIn(one), await isLoggedIn(other)]).toEqual([false, true]);
    });

    it('with only a sub ends all sessions of the user', async () => {
      const [one, two, otherUser] = [
        await loggedIn('grace', 'sid3'),
        await loggedIn('grace', 'sid4'),
        await loggedIn('alan', 'sid5'),
      ];
      expect((await logOut({ sub: 'grace' })).status).toBe(200);
      expect([await isLoggedIn(one), await isLoggedIn(two), await isLoggedIn(otherUser)]).toEqual([
        false,
        false,
        true,
      ]);
    });

    it('with a sid and a sub ends all sessions of a user whose ID tokens contain no sid', async () => {
      const [one, two, otherUser] = [await loggedIn('joan'), await loggedIn('joan'), await loggedIn('mary')];
      expect((await logOut({ sid: 'sid11', sub: 'joan' })).status).toBe(200);
      expect([await isLoggedIn(one), await isLoggedIn(two), await isLoggedIn(otherUser)]).toEqual([
        false,
        false,
        true,
      ]);
      expect(await isLoggedIn(await loggedIn('joan'))).toBe(true);
      expect((await logOut({ sid: 'sid12' })).status).toBe(200);
      expect(await isLoggedIn(otherUser)).toBe(true);
    });

    it('is accepted for a user who never logged in here', async () => {
      expect((await logOut({ sub: 'nobody' })).status).toBe(200);
    });

    it('prevents the completion of a login with its sid', async () => {
      await logOut({ sid: 'sid6' });
      const browser = app.browser();
      const answer = await provider.logIn(browser, { claims: { sid: 'sid6' } });
      expect(answer.status).toBe(403);
      expect(await isLoggedIn(browser)).toBe(false);
    });

    // Section 2.6 of OpenID Connect Back-Channel Logout 1.0
    it.each<[string, JWTPayload]>([
      ['from another issuer', { iss: 'https://other.example.com' }],
      ['for another client', { aud: 'another' }],
      ['after its expiry', { iat: now() - 200, exp: now() - 100 }],
      ['an hour after it was issued', { iat: now() - 3_600 }],
      ['without iat', { iat: undefined } as never],
      ['without exp', { exp: undefined } as never],
      ['without jti', { jti: undefined } as never],
      ['without events', { events: undefined }],
      ['for another event', { events: { 'https://example.com/event': {} } }],
      ['with a nonce', { nonce: 'x' }],
      ['with neither sid nor sub', { sid: undefined }],
      ['with a sub of 256 characters', { sub: 'a'.repeat(256) }],
      ['with a sub that contains a NUL', { sub: 'edsger\0' }],
      ['with a sid of 256 characters', { sid: 'a'.repeat(256), sub: 'edsger' }],
    ])('is rejected %s', async (_rule, claims) => {
      const browser = await loggedIn('edsger', 'sid7');
      const answer = await logOut({ sid: 'sid7', ...claims });
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

    it('is rejected if it has another type', async () => {
      const browser = await loggedIn('radia', 'sid10');
      expect((await logOut({ sid: 'sid10' }, 'at+jwt')).status).toBe(400);
      expect(await isLoggedIn(browser)).toBe(true);
    });

    // Section 2.6 of OpenID Connect Back-Channel Logout 1.0
    it('is rejected if its algorithm is not in the metadata of the provider, like an ID token', async () => {
      const claims = { ...valid(), sub: 'frances' };
      const [other, listed] = [
        await provider.sign(claims, { typ: 'logout+jwt', alg: 'PS256' }),
        await provider.sign(claims, { typ: 'logout+jwt', alg: 'RS256' }),
      ];
      expect([(await send(other)).status, (await send(listed)).status]).toEqual([400, 200]);
    });

    it('is rejected if it was used before', async () => {
      const token = await provider.sign({ ...valid(), sub: 'barbara' });
      expect((await send(token)).status).toBe(200);
      const browser = await loggedIn('barbara', 'sid8');
      expect((await send(token)).status).toBe(400);
      expect(await isLoggedIn(browser)).toBe(true);
    });

    it.each(['', 'x', 'a.b.c', `${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`])(
      'is rejected if it is malformed: %s',
      async (token) => {
        expect((await send(token)).status).toBe(400);
      },
    );

    it('is rejected if a claim was changed', async () => {
      const browser = await loggedIn('ken', 'sid9');
      const [header, , signature] = (await provider.sign({ ...valid(), sid: 'other' })).split('.');
      const payload = Buffer.from(JSON.stringify({ ...valid(), sid: 'sid9' })).toString('base64url');
      expect((await send(`${header}.${payload}.${signature}`)).status).toBe(400);
      expect(await isLoggedIn(browser)).toBe(true);
    });
  });
});

describe('back channel logout', () => {
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
      const [one, two, otherUser] = [
        await loggedIn(sub, sid),
        await loggedIn(sub, sid),
        await loggedIn('eve'),
      ];
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
});
