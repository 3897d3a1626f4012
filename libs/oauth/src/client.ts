import { hash as digestOf, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ClientJwkSet } from './client-assertion/client-keys.js';

/** RFC 6749 2.1: a public client cannot keep a secret. */
export type ClientType = 'confidential' | 'public';

/** Client metadata that the protocol rules need. */
export interface OAuthClient {
  readonly clientId: string;
  /** Shown to users. */
  readonly name: string;
  readonly type: ClientType;
  /** Compared with the `redirect_uri` of a request character by character. Empty for a client of `client_credentials`. */
  readonly redirectUris: readonly string[];
  /** Never empty. */
  readonly scopes: readonly string[];
  /** False makes PKCE required instead of `state` (RFC 9700 2.1). */
  readonly requireState: boolean;
}

/** Public keys that verify assertions (RFC 7523): at most one of both. A client with keys has no secret. */
export interface ClientKeys {
  readonly jwks: ClientJwkSet | null;
  /** URL of the JWK Set. */
  readonly jwksUri: string | null;
}

export function hasKeys({ jwks, jwksUri }: ClientKeys): boolean {
  return jwks !== null || jwksUri !== null;
}

// RFC 6749 A.1: visible ASCII.
const CLIENT_ID = /^[!-~]{1,255}$/;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** Identifiers of clients and resource servers. Other texts, some of them with NUL, never reach the database. */
export function isClientId(text: string): boolean {
  return CLIENT_ID.test(text);
}

/** The client id is the URL of a metadata document (draft-ietf-oauth-client-id-metadata-document 3), if it is well formed. */
export function isDocumentUrl(clientId: string): boolean {
  return /^https?:\/\//.test(clientId);
}

/**
 * Returns the name that pages show. A client with a metadata document chooses its own name, so that its host comes first
 * (draft-ietf-oauth-client-id-metadata-document 9.5).
 */
export function shownName(clientId: string, name: string, hasDocument: boolean): string {
  return hasDocument ? `${new URL(clientId).host} (${name})` : name;
}

/**
 * Returns `sc_` and 24 lower-case base32 characters (RFC 4648 6), 120 random bits: unique, and safe in a URL, a form and an
 * HTTP Basic user name.
 */
export function generateClientId(random: (size: number) => Buffer = randomBytes): string {
  return `sc_${base32(random(24))}`;
}

export function generateResourceServerId(random: (size: number) => Buffer = randomBytes): string {
  return `rs_${base32(random(24))}`;
}

/** One character per byte: the low five bits of a random byte are uniform. */
function base32(bytes: Buffer): string {
  return Array.from(bytes, (byte) => BASE32[byte & 31]).join('');
}

const sha256 = (text: string): Buffer => digestOf('sha256', text, 'buffer');

/**
 * Returns `scs_`, which secret scanners recognize, and base64url of 32 random bytes. SHA-256 suffices: a slow hash adds nothing
 * to 256 random bits.
 */
export function generateClientSecret(random: (size: number) => Buffer = randomBytes): {
  secret: string;
  hash: Buffer;
} {
  const secret = `scs_${random(32).toString('base64url')}`;
  return { secret, hash: sha256(secret) };
}

/**
 * Returns the id of the presented secret, or null. Compares every hash in constant time, so that the duration does not reveal
 * which one matched.
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
