import { randomBytes } from 'node:crypto';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify, SignJWT, generateKeyPair } from 'jose';
import { LoginChallenges } from '../../src/jwt-login/login-challenge.js';
import { AUTH_URL, PRODUCT_URL } from './product.js';

const LIFETIME = 1_800;
const seed = randomBytes(32);
const now = 1_800_000_000_000;
const challengesOf = (...seeds: Buffer[]) =>
  new LoginChallenges(seeds, {
    issuer: AUTH_URL,
    audience: PRODUCT_URL,
    lifetime: LIFETIME,
    clock: () => now,
  });
const challenges = challengesOf(seed);
const issue = () =>
  challenges.issue({ jti: 'transaction', client_name: 'Calendar Connect', prompt: 'login' });

it('the product can verify a challenge with the published keys', async () => {
  const { payload } = await jwtVerify(await issue(), createLocalJWKSet({ keys: [...challenges.jwks.keys] }), {
    issuer: AUTH_URL,
    audience: PRODUCT_URL,
    typ: 'login-challenge+jwt',
    currentDate: new Date(now),
  });
  expect(payload).toEqual({
    iss: AUTH_URL,
    aud: PRODUCT_URL,
    jti: 'transaction',
    client_name: 'Calendar Connect',
    prompt: 'login',
    iat: now / 1000,
    exp: now / 1000 + LIFETIME,
  });
});

it('the published keys do not contain private keys', () => {
  const { keys } = challengesOf(seed, randomBytes(32)).jwks;
  expect(keys).toHaveLength(2);
  for (const key of keys)
    expect(Object.keys(key).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
});

it('a returned challenge is accepted', async () => {
  expect(await challenges.verify(await issue())).toMatchObject({ jti: 'transaction', prompt: 'login' });
});

it('a challenge stays valid during key rotation, until its key is removed', async () => {
  const next = randomBytes(32);
  const challenge = await issue();
  const rotating = challengesOf(next, seed);
  expect(await rotating.verify(challenge)).toMatchObject({ jti: 'transaction' });
  expect(decodeProtectedHeader(await rotating.issue({ jti: 'x' })).kid).toBe(rotating.jwks.keys[0]?.kid);
  expect(await challengesOf(next).verify(challenge)).toBeNull();
});

describe('a challenge', () => {
  it('is rejected without its signature or with another signature', async () => {
    const [header = '', payload = '', signature = ''] = (await issue()).split('.');
    const none = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
    for (const forged of [
      `${none}.${payload}.`,
      `${header}.${payload}.`,
      `${header}.${payload}.${signature.slice(0, -4)}AAAA`,
      payload,
      'transaction',
    ])
      expect(await challenges.verify(forged)).toBeNull();
  });

  it('is rejected if another key with the same kid signed it', async () => {
    const { privateKey } = await generateKeyPair('EdDSA');
    const header = decodeProtectedHeader(await issue());
    const forged = new SignJWT({ jti: 'transaction' }).setProtectedHeader({ ...header, alg: 'EdDSA' });
    expect(await challenges.verify(await forged.sign(privateKey))).toBeNull();
  });

  it.each([undefined, null, 7, '', {}, ['a.b.c'], 'x'.repeat(5_000)])(
    'is rejected if it is %j',
    async (value) => {
      expect(await challenges.verify(value)).toBeNull();
    },
  );
});
