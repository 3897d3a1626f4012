import { createHmac } from 'node:crypto';
import { generateKeyPair, SignJWT } from 'jose';
import { AssertionVerifier } from '../../src/jwt-login/assertion-verifier.js';
import { configuredKeys } from '../../src/configuration/product-keys.js';
import { type AssertionSettings, AUTH_URL, forged, PRODUCT_URL, ProductKey } from './product.js';

const CHALLENGE = 'the challenge';
const SKEW = 5;

const key = new ProductKey();
let now: number;
const seconds = () => Math.floor(now / 1000);

beforeEach(() => {
  now = Date.now();
});

function verifierOf(...keys: ProductKey[]): AssertionVerifier {
  const options = { issuer: PRODUCT_URL, audience: AUTH_URL, clockSkew: SKEW, clock: () => now };
  return new AssertionVerifier(configuredKeys(keys.map(({ pem }) => pem).join('\n')), options);
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
  it.each([undefined, 'JWT', 'at+jwt', 'login-challenge+jwt'])('is rejected with the typ %s', async (typ) => {
    expect(await failureOf({ header: { typ } })).toBe('typ');
  });

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
