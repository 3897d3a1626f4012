import fc from 'fast-check';
import { CompactSign } from 'jose';
import { DPOP_ALGORITHMS, DpopVerifier, publicUri, targetUri } from '#oauth/dpop/dpop-verifier.js';
import { DpopKey } from '#test/support/keys.js';

const URI = 'https://api.example.com/v2/me';
const NOW = 1_800_000_000_000;
const verifier = new DpopVerifier({ lifetime: 60, clockSkew: 5, clock: () => NOW });

let key: DpopKey;

beforeAll(async () => {
  key = await DpopKey.generate();
});

const verify = async (claims: object, by = key) =>
  verifier.verify(await by.proof('GET', URI, { claims: { iat: NOW / 1000, ...claims } }), {
    method: 'GET',
    uri: URI,
  });

describe('a DPoP proof', () => {
  it.each(DPOP_ALGORITHMS)('yields its key, its jti and its expiry: %s', async (alg) => {
    const signer = await DpopKey.generate(alg);
    expect(await verify({ jti: 'j', nonce: 'n' }, signer)).toEqual({
      jkt: signer.jkt,
      alg,
      jti: 'j',
      nonce: 'n',
      expiresAt: NOW + 60_000,
    });
  });

  it.each([
    ['accepted at the maximum age', -60, true],
    ['rejected beyond the maximum age', -61, false],
    // Section 5.3.2.1 of FAPI 2.0 requires ten seconds, even with a smaller clock skew.
    ['accepted ten seconds in the future', 10, true],
    ['rejected more than ten seconds in the future', 11, false],
  ])('is %s', async (_rule, seconds, good) => {
    const result = verify({ iat: NOW / 1000 + seconds });
    await (good
      ? expect(result).resolves.toBeDefined()
      : expect(result).rejects.toThrow('dpop_iat_out_of_range'));
  });

  // @rfc 9449 4.3(2)
  it.each([['null'], ['7'], ['"x"'], ['[]'], ['{'], ['\xff']])(
    'is rejected if its payload is not a JSON object: %j',
    async (payload) => {
      const proof = await new CompactSign(Buffer.from(payload, 'latin1'))
        .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk: key.jwk })
        .sign(key.privateKey);
      await expect(verifier.verify(proof, { method: 'GET', uri: URI })).rejects.toThrow(
        'dpop_proof_malformed.payload',
      );
    },
  );

  it('may have a jti of 256 characters', async () => {
    expect((await verify({ jti: 'x'.repeat(256) })).jti).toHaveLength(256);
  });

  it('may have an RSA key of at most 4096 bits', async () => {
    expect((await verify({}, await DpopKey.generate('PS256', 4096))).jkt).toMatch(/^[\w-]{43}$/);
    const signer = await DpopKey.generate('PS256');
    const jwk = { ...signer.jwk, n: 'x'.repeat(684) };
    const proof = await signer.proof('GET', URI, { header: { jwk } });
    await expect(verifier.verify(proof, { method: 'GET', uri: URI })).rejects.toMatchObject({
      reason: { id: 'dpop_jwk_invalid', problem: { id: 'modulus' } },
    });
  });

  // @rfc 9449 4.3(6)
  it('is rejected if any of its characters is changed', async () => {
    const proof = await key.proof('GET', URI, { claims: { iat: NOW / 1000 } });
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.';
    // Excludes the last character of each part, which may have unused bits.
    const places = proof.split('.').flatMap((part, i, parts) => {
      const start = parts.slice(0, i).join('.').length + (i > 0 ? 1 : 0);
      return Array.from({ length: part.length - 1 }, (_, at) => start + at);
    });
    const change = fc.tuple(fc.constantFrom(...places), fc.constantFrom(...alphabet.split('')));
    await fc.assert(
      fc.asyncProperty(change, async ([at, character]) => {
        fc.pre(proof[at] !== character);
        const changed = proof.slice(0, at) + character + proof.slice(at + 1);
        await expect(verifier.verify(changed, { method: 'GET', uri: URI })).rejects.toMatchObject({
          name: 'InvalidProofError',
        });
      }),
    );
  });

  // @rfc 9449 4.3(2)
  it('is rejected with an InvalidProofError if it is arbitrary text', async () => {
    const field = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.array(fc.base64String()).map((a) => a.join('.')),
    );
    await fc.assert(
      fc.asyncProperty(field, async (text) => {
        await expect(verifier.verify(text, { method: 'GET', uri: URI })).rejects.toMatchObject({
          name: 'InvalidProofError',
        });
      }),
    );
  });
});

describe('the URI of a request (RFC 3986 6.2.2, 6.2.3)', () => {
  it.each([
    ['HTTPS://API.Example.com/v2/me', URI],
    // @rfc 9449 4.3(9)
    ['https://api.example.com:443/v2/me?x#y', URI],
    ['http://api.example.com:80/', 'http://api.example.com/'],
    ['http://api.example.com', 'http://api.example.com/'],
    ['https://api.example.com/a/%2e%2E/v2/./me', URI],
    ['https://api.example.com/%7e%2f', 'https://api.example.com/~%2F'],
    ['http://[::1]:3003/v2/me', 'http://[::1]:3003/v2/me'],
  ])('is normalized from %s to %s', (uri, normal) => expect(targetUri(uri)).toBe(normal));

  it.each([
    'ftp://api.example.com/',
    'https:/api.example.com/',
    'https:api.example.com',
    'https:///api.example.com/',
    'https://user@api.example.com/',
    'https://api.example.com\\v2/me',
    'https://api.example.com/v2/ me',
    'https://api.example.com/v2/%zz',
    'https://api.example.com/v2/mé',
    '\thttps://api.example.com/',
    '/v2/me',
    '',
  ])('cannot be %j', (uri) => expect(targetUri(uri)).toBeNull());

  it.each([
    ['/v2/me?x=1', 'https://api.example.com/v2/me'],
    ['http://evil.example.org/v2/me', 'https://api.example.com/http://evil.example.org/v2/me'],
    ['*', 'https://api.example.com/*'],
    ['.evil.org/', 'https://api.example.com/.evil.org/'],
  ])('begins with the public address for any requested path: %s', (path, uri) =>
    expect(publicUri('https://api.example.com', path)).toBe(uri),
  );
});
