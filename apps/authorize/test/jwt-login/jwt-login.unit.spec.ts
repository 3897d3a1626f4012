import { createHmac, generateKeyPairSync, randomBytes } from 'node:crypto';
import { createLocalJWKSet, decodeProtectedHeader, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import { KeyRing } from '#keys/key-ring.js';
import { ConfigurationError, loadConfiguration } from '#platform/configuration/load-configuration.js';
import { AuthorizeConfiguration } from '../../src/configuration/authorize.configuration.js';
import { type AssertionSettings, AUTH_URL, forged, PRODUCT_URL, ProductKey } from './use-jwt-login.js';
import { configuredKeys, readPublicKeys } from '../../src/configuration/product-keys.js';
import { LoginChallenges } from '../../src/jwt-login/login-challenge.js';
import { AssertionVerifier } from '../../src/jwt-login/assertion-verifier.js';

const GOOD = {
  AUTH_URL: 'https://auth.example.com',
  BASE_URL: 'https://base.example.com',
  DATABASE_URL: 'postgres://u:p@localhost/db',
  REDIS_URL: 'redis://localhost',
  NATS_URL: 'nats://localhost',
  TOKEN_KEYS: 'A'.repeat(43),
};
const SETTINGS = Object.assign(new AuthorizeConfiguration(), { AUTH_URL, LOGIN_URL: `${PRODUCT_URL}/login` });
const LOGIN_URL = 'https://app.example.com/oauth-login?x=1';
const LOGIN_PUBLIC_KEY = new ProductKey().pem;
const LOGIN_JWKS_URL = 'https://app.example.com/jwks.json';

function problems(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    loadConfiguration(AuthorizeConfiguration, { ...GOOD, ...env });
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

describe('the configuration of a login by signed JWT', () => {
  it.each([
    ['a public key', { LOGIN_URL, LOGIN_PUBLIC_KEY }],
    ['a JWKS URL', { LOGIN_URL, LOGIN_JWKS_URL }],
    ['no settings, for a login by password', {}],
    ['http in development', { LOGIN_URL: 'http://localhost:4000/login', LOGIN_PUBLIC_KEY }],
  ])('is accepted with %s', (_case, env) => {
    expect(problems(env)).toEqual([]);
  });

  it.each<[string, NodeJS.ProcessEnv, string[]]>([
    ['no key', { LOGIN_URL }, ['LOGIN_URL']],
    ['two sources of keys', { LOGIN_URL, LOGIN_PUBLIC_KEY, LOGIN_JWKS_URL }, ['LOGIN_URL']],
    ['only a key', { LOGIN_PUBLIC_KEY }, ['LOGIN_PUBLIC_KEY']],
    ['only a JWKS URL', { LOGIN_JWKS_URL }, ['LOGIN_JWKS_URL']],
    ['an invalid key', { LOGIN_URL, LOGIN_PUBLIC_KEY: 'secret' }, ['LOGIN_PUBLIC_KEY']],
    ['an invalid URL', { LOGIN_URL: 'app.example.com', LOGIN_PUBLIC_KEY }, ['LOGIN_URL']],
    ['a fragment', { LOGIN_URL: `${LOGIN_URL}#x`, LOGIN_PUBLIC_KEY }, ['LOGIN_URL']],
    [
      'a password in the URL',
      { LOGIN_URL: 'https://u:secret@app.example.com/', LOGIN_PUBLIC_KEY },
      ['LOGIN_URL'],
    ],
    [
      'http in production',
      {
        NODE_ENV: 'production',
        LOGIN_URL: 'http://app.example.com/',
        LOGIN_JWKS_URL: 'http://app.example.com/',
      },
      ['LOGIN_JWKS_URL', 'LOGIN_URL'],
    ],
    [
      'an additional OpenID provider',
      {
        LOGIN_URL,
        LOGIN_PUBLIC_KEY,
        LOGIN_ISSUER: 'https://op.example.com',
        LOGIN_CLIENT_ID: 'x',
        LOGIN_CLIENT_SECRET: 'y',
      },
      ['LOGIN_URL'],
    ],
  ])('is rejected with a message that names only the variable: %s', (_case, env, variables) => {
    const messages = problems(env);
    expect(messages.map((problem) => problem.split(' ', 1)[0])).toEqual(variables);
    expect(messages.join()).not.toContain('secret');
  });
});

describe('the parser of public keys', () => {
  const ed25519 = generateKeyPairSync('ed25519');
  const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pemOf = ({ publicKey }: typeof ed25519) =>
    publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const jwkOf = ({ publicKey }: typeof ed25519) => publicKey.export({ format: 'jwk' });

  const BOTH = [jwkOf(ed25519), jwkOf(p256)];

  it.each([
    ['PEM blocks', () => pemOf(ed25519) + pemOf(p256)],
    ['PEM blocks with \\n for line breaks', () => (pemOf(ed25519) + pemOf(p256)).replaceAll('\n', '\\n')],
    ['PEM blocks with Windows line breaks', () => (pemOf(ed25519) + pemOf(p256)).replaceAll('\n', '\r\n')],
    ['a JWK Set', () => JSON.stringify({ keys: BOTH })],
    [
      'a JWK Set with kid and use',
      () => JSON.stringify({ keys: BOTH.map((key) => ({ ...key, kid: 'a', use: 'sig' })) }),
    ],
  ])('accepts %s', (_case, text) => {
    expect(readPublicKeys(text())).toEqual(BOTH);
  });

  it('accepts a single JWK', () => {
    expect(readPublicKeys(JSON.stringify(jwkOf(p256)))).toEqual([jwkOf(p256)]);
  });

  const privatePem = (type: 'pkcs8' | 'sec1') => p256.privateKey.export({ type, format: 'pem' }).toString();
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });

  it.each([
    ['a private key in PEM', privatePem('pkcs8'), 'PUBLIC KEY'],
    ['an EC private key in PEM', privatePem('sec1'), 'PUBLIC KEY'],
    ['a private JWK', JSON.stringify(ed25519.privateKey.export({ format: 'jwk' })), 'private key'],
    ['a symmetric JWK', JSON.stringify({ kty: 'oct', k: 'AAAA' }), 'private key'],
    ['an RSA key', pemOf(rsa), 'Ed25519'],
    ['an RSA JWK', JSON.stringify(jwkOf(rsa)), 'Ed25519'],
    ['a key of another curve', pemOf(generateKeyPairSync('ec', { namedCurve: 'P-384' })), 'Ed25519'],
    ['an Ed448 key', pemOf(generateKeyPairSync('ed448')), 'Ed25519'],
    ['an encryption key', pemOf(generateKeyPairSync('x25519')), 'Ed25519'],
    ['a corrupted PEM block', pemOf(ed25519).replace('MCow', 'MCox'), 'cannot be read'],
    ['a truncated PEM block', pemOf(ed25519).slice(0, -20), 'neither PEM'],
    ['a key followed by other text', `${pemOf(ed25519)}secret`, 'neither PEM'],
    ['an empty JWK Set', '{"keys":[]}', 'no key'],
    ['a JWK Set that contains null', '{"keys":[null]}', 'cannot be read'],
    ['an object that is not a key', '{}', 'cannot be read'],
    ['truncated JSON', '{"kty":', 'not JSON'],
    ['other text', 'secret', 'neither PEM'],
  ])('rejects a value without quoting it: %s', (_case, text, reason) => {
    expect(() => readPublicKeys(text)).toThrow(reason);
    expect(() => readPublicKeys(text)).not.toThrow(/secret|MC/);
  });
});

describe('login challenge', () => {
  const LIFETIME = 1_800;
  const seed = randomBytes(32);
  const now = 1_800_000_000_000;
  const challengesOf = (...keys: Buffer[]) => new LoginChallenges(new KeyRing(keys), SETTINGS, () => now);
  const challenges = challengesOf(seed);
  const issue = () =>
    challenges.issue({ jti: 'transaction', client_name: 'Calendar Connect', prompt: 'login' });

  it('the product can verify a challenge with the published keys', async () => {
    const { payload } = await jwtVerify(
      await issue(),
      createLocalJWKSet({ keys: [...challenges.jwks.keys] }),
      {
        issuer: AUTH_URL,
        audience: PRODUCT_URL,
        typ: 'login-challenge+jwt',
        currentDate: new Date(now),
      },
    );
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
});

describe('assertion verifier', () => {
  const CHALLENGE = 'the challenge';
  const SKEW = 5;

  const key = new ProductKey();
  let now: number;
  const seconds = () => Math.floor(now / 1000);

  beforeEach(() => {
    now = Date.now();
  });

  function verifierOf(...keys: ProductKey[]): AssertionVerifier {
    const settings = Object.assign(new AuthorizeConfiguration(), SETTINGS, { CLOCK_SKEW: SKEW });
    return new AssertionVerifier(configuredKeys(keys.map(({ pem }) => pem).join('\n')), settings, () => now);
  }

  const verify = (assertion: string, verifier = verifierOf(key)) => verifier.verify(assertion, CHALLENGE);

  const failure = (assertion: string, verifier?: AssertionVerifier): Promise<unknown> =>
    verify(assertion, verifier).then(
      () => null,
      ({ failed }: { failed: string }) => failed,
    );

  const failureOf = async (settings: AssertionSettings) => failure(await key.assertion(CHALLENGE, settings));

  // @rfc 8725 2.1 @rfc 8725 3.1
  describe('an assertion', () => {
    it.each(['EdDSA', 'Ed25519', 'ES256'] as const)('is accepted if it is signed with %s', async (alg) => {
      const other = new ProductKey(alg);
      const claims = { auth_time: seconds() - 100, name: 'Ada' };
      expect(await verify(await other.assertion(CHALLENGE, { claims }), verifierOf(other))).toMatchObject({
        subject: 'u1',
        authTime: seconds() - 100,
        claims: { name: 'Ada' },
      });
    });

    it('is accepted if any of several keys signed it, regardless of its kid', async () => {
      const keys = [key, new ProductKey(), new ProductKey('ES256')];
      const verifier = verifierOf(...keys);
      for (const signer of keys)
        await verify(await signer.assertion(CHALLENGE, { header: { kid: 'unknown' } }), verifier);
      expect(await failure(await new ProductKey().assertion(CHALLENGE), verifier)).toBe('signature');
    });

    it.each(['none', 'None', 'NONE'])('is rejected with alg %s', async (alg) => {
      expect(await failure(forged(await key.assertion(CHALLENGE), { alg }, () => ''))).toBe('alg');
    });

    it.each([
      ['PEM', key.pem],
      ['trimmed PEM', key.pem.trim()],
      ['x of the JWK', key.jwk.x ?? ''],
      ['bytes of the key', Buffer.from(key.jwk.x ?? '', 'base64url')],
    ])('is rejected with HS256 keyed with the public key: %s', async (_case, secret) => {
      const mac = (input: string) => createHmac('sha256', secret).update(input).digest('base64url');
      expect(await failure(forged(await key.assertion(CHALLENGE), { alg: 'HS256' }, mac))).toBe('alg');
    });

    it('is rejected with another asymmetric algorithm', async () => {
      const { privateKey } = await generateKeyPair('RS256');
      const assertion = new SignJWT({}).setProtectedHeader({ alg: 'RS256', typ: 'login+jwt' });
      expect(await failure(await assertion.sign(privateKey))).toBe('alg');
    });

    // @rfc 8725 3.8
    it('is rejected if another key signed it, even if its header contains that key', async () => {
      const foreign = new ProductKey();
      expect(await failure(await foreign.assertion(CHALLENGE))).toBe('signature');
      expect(await failure(await foreign.assertion(CHALLENGE, { header: { jwk: foreign.jwk } }))).toBe(
        'signature',
      );
    });

    it('is rejected if its claims or its signature were modified', async () => {
      const [header = '', payload = '', signature = ''] = (await key.assertion(CHALLENGE)).split('.');
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
      const other = Buffer.from(JSON.stringify({ ...claims, sub: 'u2' })).toString('base64url');
      expect(await failure(`${header}.${other}.${signature}`)).toBe('signature');
      expect(
        await failure(`${header}.${payload}.${signature.replace(/^./, (c) => (c === 'A' ? 'B' : 'A'))}`),
      ).toBe('signature');
    });

    it.each(['', '.', '..', 'a.b.c', 'nothing', '{}', 'a.b.c.d.e'])(
      'is rejected if it is not a JWT: %j',
      async (text) => {
        expect(await failure(text)).toBe('format');
      },
    );

    // @rfc 8725 3.11
    it.each([undefined, 'JWT', 'at+jwt', 'login-challenge+jwt'])(
      'is rejected with the typ %s',
      async (typ) => {
        expect(await failureOf({ header: { typ } })).toBe('typ');
      },
    );

    it('is rejected with an unknown critical extension', async () => {
      expect(await failureOf({ header: { crit: ['x'], x: 1 } }).catch(() => 'not signed')).toMatch(
        /format|not signed/,
      );
    });

    // @rfc 8725 3.8 @rfc 8725 3.9
    it.each([
      ['another issuer', { iss: 'https://evil.example' }, 'iss'],
      ['LOGIN_URL instead of its origin as issuer', { iss: `${PRODUCT_URL}/oauth-login` }, 'iss'],
      ['no issuer', { iss: null }, 'iss'],
      ['another audience', { aud: 'https://other.example' }, 'aud'],
      ['an audience with an additional slash', { aud: `${AUTH_URL}/` }, 'aud'],
      ['several audiences', { aud: [AUTH_URL, 'https://other.example'] }, 'aud'],
      ['no audience', { aud: null }, 'aud'],
      ['another challenge', { challenge: 'other' }, 'challenge'],
      ['no challenge', { challenge: null }, 'challenge'],
      ['no sub', { sub: null }, 'sub'],
      ['an empty sub', { sub: '' }, 'sub'],
      ['a sub that is a number', { sub: 7 }, 'sub'],
      ['a sub that is too long', { sub: 'x'.repeat(256) }, 'sub'],
      ['no iat', { iat: null }, 'iat'],
      ['an auth_time that is not a number', { auth_time: 'now' }, 'auth_time'],
      ['an auth_time in the future', { auth_time: 9_999_999_999 }, 'auth_time'],
    ])('is rejected with %s', async (_case, claims, failed) => {
      expect(await failureOf({ claims })).toBe(failed);
    });

    it.each([
      ['is accepted with a list that contains only the expected audience', () => ({ aud: [AUTH_URL] }), null],
      ['is accepted 60 seconds after it was issued', () => ({ iat: seconds() - 60 }), null],
      [
        'is accepted 60 seconds plus the clock tolerance after it was issued',
        () => ({ iat: seconds() - 60 - SKEW }),
        null,
      ],
      ['is rejected more than 60 seconds after it was issued', () => ({ iat: seconds() - 61 - SKEW }), 'iat'],
      [
        'is rejected more than 60 seconds after it was issued, even if its exp is in the future',
        () => ({ iat: seconds() - 300, exp: seconds() + 300 }),
        'iat',
      ],
      [
        'is accepted if the clock of its issuer is fast within the tolerance',
        () => ({ iat: seconds() + SKEW }),
        null,
      ],
      ['is rejected if it was issued in the future', () => ({ iat: seconds() + SKEW + 1 }), 'iat'],
      ['is accepted before its exp', () => ({ exp: seconds() + 1 }), null],
      ['is rejected after its exp', () => ({ exp: seconds() - SKEW }), 'exp'],
      ['is rejected before its nbf', () => ({ nbf: seconds() + SKEW + 1 }), 'nbf'],
    ])('%s', async (_case, claims, failed) => {
      expect(await failureOf({ claims: claims() })).toBe(failed);
    });
  });
});
