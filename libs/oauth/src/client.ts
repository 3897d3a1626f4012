import { hash as digestOf, randomBytes, timingSafeEqual } from 'node:crypto';

/** RFC 6749 2.1: a public client cannot keep a secret and has none. */
export type ClientType = 'confidential' | 'public';

/** What the rules of the protocol need to know of a registered client. */
export interface OAuthClient {
  readonly clientId: string;
  readonly type: ClientType;
  /** Compared with a request's redirect_uri character by character. */
  readonly redirectUris: readonly string[];
  /** The scopes that it may request, never empty. */
  readonly scopes: readonly string[];
  /** Authorization requests need a `state`; otherwise they need PKCE (RFC 9700 2.1). */
  readonly requireState: boolean;
}

// RFC 6749 A.1: visible ASCII.
const CLIENT_ID = /^[!-~]{1,255}$/;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** Whether a text can be the identifier of a client or resource server. Others, some with NUL, never reach a database. */
export function isClientId(text: string): boolean {
  return CLIENT_ID.test(text);
}

/**
 * A new client identifier: `sc_` and 24 lower-case base32 characters (RFC 4648 6), 120 random bits. It is not a secret,
 * but it is unique and safe in a URL, a form and an HTTP Basic user name.
 *
 * @param random source of random bytes
 */
export function generateClientId(random: (size: number) => Buffer = randomBytes): string {
  return `sc_${base32(random(24))}`;
}

/** A new identifier of a resource server: like a client's, with a prefix of its own. */
export function generateResourceServerId(random: (size: number) => Buffer = randomBytes): string {
  return `rs_${base32(random(24))}`;
}

/** One character per byte. 32 divides 256, so the low five bits of a random byte are evenly distributed. */
function base32(bytes: Buffer): string {
  return Array.from(bytes, (byte) => BASE32[byte & 31]).join('');
}

const sha256 = (text: string): Buffer => digestOf('sha256', text, 'buffer');

/**
 * A new client secret: `scs_`, by which secret scanners find leaks, and base64url of 32 random bytes. Only the
 * hash is stored: SHA-256, since a slow hash adds nothing to 256 random bits.
 */
export function generateClientSecret(random: (size: number) => Buffer = randomBytes): {
  secret: string;
  hash: Buffer;
} {
  const secret = `scs_${random(32).toString('base64url')}`;
  return { secret, hash: sha256(secret) };
}

/**
 * Which of the secrets was presented: its id, or null. Every hash is compared, each in constant time: the duration
 * tells neither which one matched nor how nearly.
 */
export function matchClientSecret(
  presented: string,
  secrets: readonly { readonly id: string; readonly hash: Buffer }[],
): string | null {
  const digest = sha256(presented);
  return secrets.reduce<string | null>(
    (matched, { id, hash }) => (timingSafeEqual(digest, hash) ? id : matched),
    null,
  );
}
