import { generateKeyPairSync } from 'node:crypto';
import { calculateJwkThumbprint, createLocalJWKSet, type JWK, jwtVerify, SignJWT } from 'jose';
import {
  generateIdTokenKeys,
  publicIdTokenKeys,
  SIGNING_ALGORITHMS,
  SigningKeys,
} from '#oauth/openid/signing-keys.js';
import { ed25519Key, ID_TOKEN_KEYS, p256Key, pkcs8, rsaKey, SIGNING_KEYS } from '#test/support/keys.js';

const ISSUER = 'https://base.example.com';
const CLAIMS = { iss: ISSUER, sub: '7', aud: 'client' };

describe('ID_TOKEN_KEYS', () => {
  const rsa = rsaKey();
  const p256 = p256Key();

  it.each([
    ['PEM blocks', pkcs8(rsa) + pkcs8(p256)],
    ['PEM with escaped line ends', (pkcs8(rsa) + pkcs8(p256)).replaceAll('\n', '\\n')],
    [
      'a JWK Set',
      JSON.stringify({ keys: [rsa, p256].map(({ privateKey }) => privateKey.export({ format: 'jwk' })) }),
    ],
  ])('can be %s', async (_form, text) => {
    const keys = SigningKeys.parse(text);
    expect(keys.ids.map(({ alg }) => alg)).toEqual(['RS256', 'ES256']);
    expect(keys.canSign).toBe(true);
    const [first] = keys.ids;
    expect(first?.id).toBe(await calculateJwkThumbprint(rsa.publicKey.export({ format: 'jwk' }) as JWK));
  });

  it('may be public in a process that only verifies', () => {
    const keys = SigningKeys.parse(JSON.stringify(SIGNING_KEYS.jwks));
    expect([keys.canSign, keys.ids]).toEqual([false, SIGNING_KEYS.ids]);
  });

  it.each([
    ['no RSA key (OpenID Connect Discovery 3)', pkcs8(p256), /no RSA key/],
    ['a weak RSA key (RFC 7518 3.3)', pkcs8(rsaKey(1024)), /fewer than 2048 bits/],
    [
      'a key on another curve',
      pkcs8(rsa) + pkcs8(generateKeyPairSync('ec', { namedCurve: 'P-384' })),
      /neither RSA/,
    ],
    ['the same key twice', pkcs8(rsa) + pkcs8(rsa), /twice/],
    ['a certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', /PRIVATE KEY/],
    ['text outside the PEM blocks', `${pkcs8(rsa)} x`, /neither PEM nor/],
    ['a symmetric key', '{"kty":"oct","k":"c2VjcmV0"}', /cannot be read/],
    ['broken JSON', '{', /not JSON/],
  ])('is rejected if it has %s', (_what, text, problem) => {
    expect(() => SigningKeys.parse(text)).toThrow(problem);
  });

  it('is never published with private members', () => {
    for (const key of SIGNING_KEYS.jwks.keys)
      for (const member of ['d', 'p', 'q', 'dp', 'dq', 'qi']) expect(key).not.toHaveProperty(member);
  });
});

describe('a signed token', () => {
  it.each(['RS256', 'ES256', 'EdDSA'] as const)('verifies with the published key set (%s)', async (alg) => {
    const token = await SIGNING_KEYS.sign(CLAIMS, alg);
    const keySet = createLocalJWKSet({ keys: [...SIGNING_KEYS.jwks.keys] });
    const { payload, protectedHeader } = await jwtVerify(token, keySet, { algorithms: [alg] });
    expect(payload).toEqual(CLAIMS);
    expect(protectedHeader).toMatchObject({ alg, typ: 'JWT' });
  });

  // @openid core 10.1.1
  it('is signed with the first key of its algorithm', async () => {
    const [first, second] = [rsaKey(), rsaKey()];
    const keys = SigningKeys.parse(pkcs8(first) + pkcs8(second));
    const token = await keys.sign(CLAIMS, 'RS256');
    await expect(jwtVerify(token, first.publicKey)).resolves.toBeDefined();
  });
});

describe('an ID token hint', () => {
  const verify = (token: string) => SIGNING_KEYS.verify(token, ISSUER);

  it('is accepted after it has expired (section 2 of RP-Initiated Logout 1.0)', async () => {
    expect(await verify(await SIGNING_KEYS.sign({ ...CLAIMS, exp: 1 }, 'RS256'))).toMatchObject({ sub: '7' });
  });

  it('is refused if it names another issuer, or is signed with another key', async () => {
    expect(await verify(await SIGNING_KEYS.sign({ ...CLAIMS, iss: 'https://evil.example' }, 'RS256'))).toBe(
      'iss',
    );
    const other = SigningKeys.parse(pkcs8(rsaKey()));
    expect(await verify(await other.sign(CLAIMS, 'RS256'))).toBe('kid');
  });

  it('is refused if it names another client', async () => {
    const token = await SIGNING_KEYS.sign({ ...CLAIMS, aud: 'sc_a' }, 'RS256');
    expect(await SIGNING_KEYS.verify(token, ISSUER, 'sc_a')).toMatchObject({ aud: 'sc_a' });
    expect(await SIGNING_KEYS.verify(token, ISSUER, 'sc_b')).toBe('aud');
  });

  // Section 2.4 of Back-Channel Logout 1.0, RFC 8417 2.3.
  it.each(['logout+jwt', 'secevent+jwt'])('is refused if its type is %s', async (type) => {
    expect(await verify(await SIGNING_KEYS.sign(CLAIMS, 'RS256', type))).toBe('typ');
  });

  // Tests algorithm confusion (RFC 8725 2.1).
  it('is refused if it is unsigned, or signed with the public key as a shared secret', async () => {
    const [{ kid, ...jwk } = { kid: '' }] = SIGNING_KEYS.jwks.keys as (JWK & { kid: string })[];
    const header = (alg: string) =>
      Buffer.from(JSON.stringify({ alg, kid, typ: 'JWT' })).toString('base64url');
    const body = Buffer.from(JSON.stringify(CLAIMS)).toString('base64url');
    expect(await verify(`${header('none')}.${body}.`)).toBe('signature');
    const secret = Buffer.from(JSON.stringify(jwk));
    const forged = await new SignJWT(CLAIMS)
      .setProtectedHeader({ alg: 'HS256', kid, typ: 'JWT' })
      .sign(secret);
    expect(await verify(forged)).toBe('signature');
  });

  it('is refused if it names the key of another algorithm', async () => {
    const [rsa, p256] = SIGNING_KEYS.ids;
    const token = await SIGNING_KEYS.sign(CLAIMS, 'ES256');
    const [header = '', ...rest] = token.split('.');
    const fields = JSON.parse(Buffer.from(header, 'base64url').toString()) as object;
    const swapped = Buffer.from(JSON.stringify({ ...fields, kid: rsa?.id })).toString('base64url');
    expect(p256?.alg).toBe('ES256');
    expect(await verify([swapped, ...rest].join('.'))).toBe('signature');
  });

  it.each([
    ['empty', ''],
    ['not JSON', 'a.b.c'],
    ['too long', 'x'.repeat(9_000)],
    ['three empty parts', '..'],
  ])('is refused if it is %s', async (_what, text) => {
    expect(await verify(text)).toBe('format');
  });
});

it('Ed25519 keys have the algorithm EdDSA', () => {
  const keys = SigningKeys.parse(ID_TOKEN_KEYS + pkcs8(ed25519Key()));
  expect(keys.ids.map(({ alg }) => alg)).toEqual(['RS256', 'ES256', 'EdDSA', 'EdDSA']);
});

describe('generated ID token keys', () => {
  let generated: string;
  beforeAll(async () => {
    generated = await generateIdTokenKeys();
  });

  it('include one private key of each algorithm, on one line', () => {
    const keys = SigningKeys.parse(generated);
    expect(keys.canSign).toBe(true);
    expect(keys.ids.map(({ alg }) => alg)).toEqual(SIGNING_ALGORITHMS);
    expect(generated).not.toContain('\n');
  });

  it('have public keys with the same ids, which cannot sign', () => {
    const [pair, published] = [SigningKeys.parse(generated), SigningKeys.parse(publicIdTokenKeys(generated))];
    expect(published.canSign).toBe(false);
    expect(published.ids).toEqual(pair.ids);
    expect(JSON.parse(publicIdTokenKeys(generated))).toEqual(pair.jwks);
    expect(() => published.privateJwks).toThrow('has no private key');
  });

  it.each(SIGNING_ALGORITHMS)('create %s signatures, which the public keys verify', async (alg) => {
    const token = await SigningKeys.parse(generated).sign({ iss: ISSUER, sub: '1' }, alg);
    const published = SigningKeys.parse(publicIdTokenKeys(generated));
    expect(await published.verify(token, ISSUER)).toEqual({ iss: ISSUER, sub: '1' });
    expect(await published.verify(token, 'https://other.example.com')).toBe('iss');
    expect(await SigningKeys.parse(await generateIdTokenKeys()).verify(token, ISSUER)).toBe('kid');
  });
});
