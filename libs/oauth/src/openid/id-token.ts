import { createHmac, hash } from 'node:crypto';
import type { SigningAlgorithm } from './signing-keys.js';

/** Claims of an ID token (section 2 of OpenID Connect Core). Times are in seconds since the epoch. */
export interface IdTokenClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: string;
  readonly exp: number;
  readonly iat: number;
  readonly auth_time?: number;
  readonly nonce?: string;
  readonly at_hash: string;
  readonly sid?: string;
}

/** A client's subject type (section 8 of OpenID Connect Core). */
export interface SubjectRule {
  /** Key of the client's sector (8.1); null for the public subject. */
  readonly subjectKey: Buffer | null;
}

/**
 * The public `sub` is the user's id. A pairwise `sub` is a keyed hash, so that sectors cannot correlate users (Core
 * 8.1).
 */
export function subjectOf({ subjectKey }: SubjectRule, userId: number): string {
  if (subjectKey === null) return String(userId);
  return createHmac('sha256', subjectKey).update(String(userId)).digest('base64url');
}

/**
 * Returns a `sid` of 128 bits (section 2.1 of Back-Channel Logout 1.0), which differs between clients, so that it
 * cannot link pairwise subjects.
 */
export function sessionIdFor(clientId: string, session: string): string {
  return hash('sha256', `sid\n${session}\n${clientId}`, 'buffer').subarray(0, 16).toString('base64url');
}

/** Returns the left half of the algorithm's hash (Core 3.1.3.6), which for Ed25519 is SHA-512 (RFC 8032 5.1). */
export function accessTokenHash(accessToken: string, alg: SigningAlgorithm): string {
  const digest = hash(alg === 'EdDSA' ? 'sha512' : 'sha256', accessToken, 'buffer');
  return digest.subarray(0, digest.length / 2).toString('base64url');
}

/** `typ` of the header (section 2.4 of Back-Channel Logout 1.0). */
export const LOGOUT_TOKEN_TYPE = 'logout+jwt';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** In seconds. Section 2.4: "preferably at most two minutes in the future". */
export const LOGOUT_TOKEN_LIFETIME_S = 120;

/** Claims of a logout token, which must not include `nonce` (section 2.4). Times are in seconds since the epoch. */
export interface LogoutTokenClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: string;
  readonly iat: number;
  readonly exp: number;
  readonly jti: string;
  readonly events: Readonly<Record<string, object>>;
  readonly sid?: string;
}

export function logoutTokenClaims(
  { clientId, ...rule }: SubjectRule & { readonly clientId: string },
  ended: { readonly id: string; readonly userId: number; readonly session: string | undefined },
  { issuer, now }: { readonly issuer: string; readonly now: number },
): LogoutTokenClaims {
  const iat = Math.floor(now / 1000);
  return {
    iss: issuer,
    sub: subjectOf(rule, ended.userId),
    aud: clientId,
    iat,
    exp: iat + LOGOUT_TOKEN_LIFETIME_S,
    jti: ended.id,
    events: { [EVENT]: {} },
    ...(ended.session !== undefined && { sid: sessionIdFor(clientId, ended.session) }),
  };
}
