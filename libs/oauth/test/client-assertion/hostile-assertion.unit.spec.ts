import { createHmac, createPublicKey } from 'node:crypto';
import {
  InvalidAssertionError,
  isSignedBy,
  parseAssertion,
} from '#oauth/client-assertion/client-assertion.js';
import { candidateKeys } from '#oauth/client-assertion/client-keys.js';
import { ClientKey, keysOf } from '#test/support/keys.js';

const ID = 'sc_a';
const CLAIMS = { iss: ID, sub: ID };

const encoded = (value: object | string) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const unsigned = (header: object | string, claims: object | string = CLAIMS) =>
  `${encoded(header)}.${encoded(claims)}.c2ln`;

let rsa: ClientKey;

beforeAll(async () => {
  rsa = await ClientKey.generate('RS256');
});

describe('a hostile assertion', () => {
  // @rfc 8725 2.1 @rfc 8725 3.1
  it.each(['none', 'None', 'HS256', 'HS512', 'RS1', 'ES256K', '__proto__', 'toString', ''])(
    'is refused with the algorithm %j',
    (alg) => {
      expect(() => parseAssertion(unsigned({ alg }))).toThrow('client_assertion_alg_unsupported');
    },
  );

  it('cannot use the public key as an HMAC secret, in PEM or JWK form', () => {
    const key = createPublicKey({ key: { ...rsa.jwk } as never, format: 'jwk' });
    for (const secret of [key.export({ type: 'spki', format: 'pem' }), JSON.stringify(rsa.jwk)]) {
      const signed = `${encoded({ alg: 'HS256', kid: rsa.jwk.kid })}.${encoded(CLAIMS)}`;
      const mac = createHmac('sha256', secret).update(signed).digest('base64url');
      expect(() => parseAssertion(`${signed}.${mac}`)).toThrow('client_assertion_alg_unsupported');
    }
  });

  it('cannot use a registered key with another algorithm, or another key with the same kid', async () => {
    const other = await ClientKey.generate('RS256', rsa.jwk.kid);
    const keys = keysOf(rsa).jwks ?? { keys: [] };
    const by = async (key: ClientKey) => {
      const assertion = parseAssertion(await key.assertion(ID, 'https://a.example.com'));
      return isSignedBy(assertion, candidateKeys(keys, assertion));
    };
    expect([await by(rsa), await by(other)]).toEqual([true, false]);
    expect(candidateKeys(keys, { alg: 'PS256', kid: null })).toEqual([]);
    expect(candidateKeys(keys, { alg: 'ES256', kid: rsa.jwk.kid ?? '' })).toEqual([]);
  });

  it('is refused with changed claims', async () => {
    const [header, , signature] = (await rsa.assertion(ID, 'https://a.example.com')).split('.');
    const assertion = parseAssertion(`${header}.${encoded(CLAIMS)}.${signature}`);
    expect(await isSignedBy(assertion, keysOf(rsa).jwks?.keys ?? [])).toBe(false);
  });

  it.each<[string, string]>([
    ['a repeated claim', unsigned({ alg: 'ES256' }, `{"iss":"${ID}","sub":"sc_b","sub":"${ID}"}`)],
    ['a repeated header', unsigned('{"alg":"none","alg":"ES256"}')],
    [
      'a claim repeated by an escape',
      unsigned({ alg: 'ES256' }, `{"iss":"${ID}","\\u0073ub":"sc_b","sub":"${ID}"}`),
    ],
    ['an array as payload', unsigned({ alg: 'ES256' }, '[]')],
    ['null as header', unsigned('null')],
    ['deeply nested claims', unsigned({ alg: 'ES256' }, '['.repeat(1000))],
    ['a crit header', unsigned({ alg: 'ES256', crit: ['b64'], b64: false })],
    ['two parts', 'e30.e30'],
    ['four parts', `${unsigned({ alg: 'ES256' })}.x`],
    ['no signature', `${encoded({ alg: 'ES256' })}.${encoded(CLAIMS)}.`],
    ['bytes that are not UTF-8', `${Buffer.from([0xff]).toString('base64url')}.e30.c2ln`],
  ])('is refused with %s', (_what, jwt) => {
    expect(() => parseAssertion(jwt)).toThrow(InvalidAssertionError);
  });

  it('is parsed without a stack overflow if its valid claims are deeply nested', () => {
    const deep = `{"iss":"${ID}","sub":"${ID}","x":${'['.repeat(1_400)}${']'.repeat(1_400)}}`;
    expect(parseAssertion(unsigned({ alg: 'ES256' }, deep)).clientId).toBe(ID);
  });

  it('is verified with at most ten keys', () => {
    const keys = Array.from({ length: 50 }, () => keysOf(rsa).jwks?.keys ?? []).flat();
    expect(candidateKeys({ keys }, { alg: 'RS256', kid: null })).toHaveLength(10);
  });
});
