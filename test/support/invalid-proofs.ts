import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { exportJWK, SignJWT } from 'jose';
import { DpopKey } from './keys.js';

interface ProofFor {
  readonly key: DpopKey;
  readonly method: string;
  readonly uri: string;
  readonly accessToken?: string;
}

export interface InvalidProof {
  readonly rule: string;
  readonly says: RegExp;
  readonly make: (request: ProofFor) => Promise<string | string[]>;
}

const now = () => Math.floor(Date.now() / 1000);

const changed =
  (settings: { header?: object; claims?: object }) =>
  ({ key, method, uri, accessToken }: ProofFor): Promise<string> =>
    key.proof(method, uri, { ...(accessToken !== undefined && { accessToken }), ...settings } as Parameters<
      DpopKey['proof']
    >[2]);

const claims = (values: object) => changed({ claims: values });

const at = (change: (uri: string) => string) => (request: ProofFor) =>
  claims({ htu: change(request.uri) })(request);

/** Changes parts of a valid proof without a new signature. */
async function forged(request: ProofFor, change: (parts: string[]) => void): Promise<string> {
  const parts = (await changed({})(request)).split('.');
  change(parts);
  return parts.join('.');
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const decode = (part = '') =>
  JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;

function symmetric({ method, uri }: ProofFor): Promise<string> {
  const secret = randomBytes(32);
  const jwk = { kty: 'oct', k: secret.toString('base64url') };
  return new SignJWT({ jti: 'x', htm: method, htu: uri, iat: now() })
    .setProtectedHeader({ typ: 'dpop+jwt', alg: 'HS256', jwk })
    .sign(secret);
}

/** Proofs that violate RFC 9449 4.3, or a stricter rule of this service. */
export const INVALID_PROOFS: readonly InvalidProof[] = [
  // @rfc 9449 4.3(1)
  {
    rule: 'two headers',
    says: /more than one DPoP header/,
    make: async (request) => [await changed({})(request), await changed({})(request)],
  },
  // @rfc 9449 4.3(2)
  { rule: 'a value that is not a JWT', says: /well-formed/, make: async () => 'proof' },
  { rule: 'two parts', says: /well-formed/, make: (r) => forged(r, (parts) => parts.pop()) },
  // @rfc 9449 4.3(2)
  { rule: 'four parts', says: /well-formed/, make: (r) => forged(r, (parts) => parts.push('x')) },
  { rule: 'a header that is not JSON', says: /well-formed/, make: (r) => forged(r, (p) => (p[0] = 'e30x')) },
  {
    rule: 'an oversize proof',
    says: /longer than 8192/,
    make: (r) => changed({ claims: { padding: 'x'.repeat(6500) } })(r),
  },
  // @rfc 9449 4.3(4)
  { rule: 'typ JWT', says: /typ/, make: changed({ header: { typ: 'JWT' } }) },
  // @rfc 9449 4.3(4)
  { rule: 'a missing typ', says: /typ/, make: changed({ header: { typ: undefined } }) },
  // @rfc 9449 4.3(5)
  {
    rule: 'alg none',
    says: /alg/,
    make: (r) =>
      forged(r, (parts) => {
        parts[0] = encode({ ...decode(parts[0]), alg: 'none' });
        parts[2] = '';
      }),
  },
  // @rfc 9449 4.3(5)
  { rule: 'alg HS256 with the key in the header', says: /alg/, make: symmetric },
  // @rfc 9449 4.3(5)
  {
    rule: 'an unsupported algorithm (ES512)',
    says: /alg/,
    make: async ({ method, uri }) => (await DpopKey.generate('ES512')).proof(method, uri),
  },
  // Section 5.4.1 of the FAPI 2.0 Security Profile.
  {
    rule: 'RS256',
    says: /alg must be one of/,
    make: async ({ method, uri, accessToken }) =>
      (await DpopKey.generate('RS256')).proof(method, uri, accessToken === undefined ? {} : { accessToken }),
  },
  {
    rule: 'alg of another key type',
    says: /not a key for PS256/,
    make: (r) => forged(r, (parts) => (parts[0] = encode({ ...decode(parts[0]), alg: 'PS256' }))),
  },
  {
    rule: 'crit',
    says: /crit/,
    make: (r) => forged(r, (parts) => (parts[0] = encode({ ...decode(parts[0]), crit: ['x'], x: 1 }))),
  },
  // @rfc 9449 4.3(7)
  {
    rule: 'a private key in the header',
    says: /private key/,
    make: async (r) => changed({ header: { jwk: await exportJWK(r.key.privateKey) } })(r),
  },
  { rule: 'no key', says: /jwk/, make: changed({ header: { jwk: undefined } }) },
  {
    rule: 'a point that is not on the curve',
    says: /signature/,
    make: (r) => changed({ header: { jwk: { ...r.key.jwk, y: r.key.jwk.x } } })(r),
  },
  {
    rule: 'an RSA key of 1024 bits',
    says: /2048 to 4096/,
    make: async (r) => rsa(r, 1024),
  },
  // @rfc 9449 4.3(6)
  {
    rule: 'another key’s signature',
    says: /signature/,
    make: async ({ key, method, uri }) => key.proof(method, uri, { signer: await DpopKey.generate() }),
  },
  // @rfc 9449 4.3(6)
  {
    rule: 'claims changed after signing',
    says: /signature/,
    make: (r) => forged(r, (parts) => (parts[1] = encode({ ...decode(parts[1]), jti: 'another' }))),
  },
  // @rfc 9449 4.3(3)
  { rule: 'no jti', says: /jti is missing/, make: claims({ jti: null }) },
  { rule: 'a jti that is not a string', says: /jti is missing/, make: claims({ jti: 7 }) },
  // @rfc 9449 11.1
  { rule: 'an over-long jti', says: /jti is longer/, make: claims({ jti: 'x'.repeat(257) }) },
  // @rfc 9449 4.3(3)
  { rule: 'no htm', says: /htm, htu and iat/, make: claims({ htm: null }) },
  // @rfc 9449 4.3(3)
  { rule: 'no htu', says: /htm, htu and iat/, make: claims({ htu: null }) },
  // @rfc 9449 4.3(3)
  { rule: 'no iat', says: /htm, htu and iat/, make: claims({ iat: null }) },
  // @rfc 9449 4.3(8)
  { rule: 'another method', says: /htm/, make: claims({ htm: 'PUT' }) },
  // @rfc 9449 4.3(8)
  {
    rule: 'the method in another case',
    says: /htm/,
    make: (r) => claims({ htm: r.method.toLowerCase() })(r),
  },
  { rule: 'another host', says: /htu/, make: at((uri) => uri.replace('example.com', 'example.org')) },
  {
    rule: 'a longer host',
    says: /htu/,
    make: at((uri) => uri.replace('example.com', 'example.com.evil.org')),
  },
  // @rfc 9449 4.3(9)
  { rule: 'another path', says: /htu/, make: at((uri) => `${uri}s`) },
  { rule: 'the path in another case', says: /htu/, make: at((uri) => uri.replace(/\w+$/, 'X$&')) },
  { rule: 'a slash at the end', says: /htu/, make: at((uri) => `${uri}/`) },
  { rule: 'another port', says: /htu/, make: at((uri) => uri.replace('.com', '.com:8443')) },
  { rule: 'http instead of https', says: /htu/, make: at((uri) => uri.replace('https', 'http')) },
  { rule: 'the path hidden in a query', says: /htu/, make: at((uri) => uri.replace('.com/', '.com/?/')) },
  { rule: 'the path hidden in a fragment', says: /htu/, make: at((uri) => uri.replace('.com/', '.com/#/')) },
  { rule: 'userinfo', says: /htu/, make: at((uri) => uri.replace('https://', 'https://a@')) },
  { rule: 'backslashes', says: /htu/, make: at((uri) => uri.replace('.com/', '.com\\')) },
  { rule: 'a space', says: /htu/, make: at((uri) => ` ${uri}`) },
  { rule: 'an encoded slash', says: /htu/, make: at((uri) => uri.replace(/\/(\w+)$/, '%2F$1')) },
  { rule: 'a path without a host', says: /htu/, make: at((uri) => new URL(uri).pathname) },
  // @rfc 9449 4.3(11)
  { rule: 'an expired proof', says: /older than 300/, make: (r) => claims({ iat: now() - 302 })(r) },
  // @rfc 9449 4.3(11)
  { rule: 'a proof from the future', says: /in the future/, make: (r) => claims({ iat: now() + 300 })(r) },
  { rule: 'iat in milliseconds', says: /in the future/, make: (r) => claims({ iat: Date.now() })(r) },
  { rule: 'a nonce that is not a string', says: /nonce/, make: claims({ nonce: 7 }) },
];

/** Signs a proof with node:crypto, because jose rejects short keys. */
function rsa({ method, uri }: ProofFor, modulusLength: number): string {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength });
  const jwk = publicKey.export({ format: 'jwk' });
  const text = `${encode({ typ: 'dpop+jwt', alg: 'PS256', jwk })}.${encode({ jti: 'x', htm: method, htu: uri, iat: now() })}`;
  return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
}
