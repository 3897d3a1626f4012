import { hash as digestOf, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ClientJwkSet } from './client-assertion/client-keys.js';
import { type GrantType, isEventScope, unauthorizedClient } from './client-credentials.js';
import { thumbprintOf } from './jwk.js';
import { checkDeviceGrant, DEVICE_CODE } from './device-authorization.js';

/** RFC 6749 2.1: a public client cannot keep a secret. */
export type ClientType = 'confidential' | 'public';

/** Client metadata that the protocol rules need. */
export interface OAuthClient {
  readonly clientId: string;
  readonly name: string;
  readonly type: ClientType;
  /** Compared with the requested `redirect_uri` by `isRegistered`. Empty if the client cannot use codes. */
  readonly redirectUris: readonly string[];
  /** Registered scopes, never empty. */
  readonly scopes: readonly string[];
  /** If false, PKCE is required instead of `state` (RFC 9700 2.1). */
  readonly requireState: boolean;
}

/** Public keys that verify assertions (RFC 7523). At most one field is set. A client with keys has no secret. */
export interface ClientKeys {
  readonly jwks: ClientJwkSet | null;
  readonly jwksUri: string | null;
}

export function hasKeys({ jwks, jwksUri }: ClientKeys): boolean {
  return jwks !== null || jwksUri !== null;
}

interface ClientGrants {
  readonly clientId: string;
  readonly grantType: GrantType;
  readonly deviceGrant: boolean;
}

/** A confidential client may also request a token for its event stream. @throws OAuthError unauthorized_client */
export function checkGrantType(
  { grant_type: requested, scope }: { readonly grant_type: string; readonly scope?: string },
  client: ClientGrants & Pick<OAuthClient, 'type'>,
): void {
  const { clientId, grantType } = client;
  if (requested === DEVICE_CODE) checkDeviceGrant(client);
  if (requested === 'client_credentials' && isEventScope(scope) && client.type === 'confidential') return;
  const isClientCredentials = requested === 'client_credentials';
  if (isClientCredentials === (grantType === 'client_credentials')) return;
  throw unauthorizedClient(
    clientId,
    isClientCredentials
      ? 'grant_type_unregistered.client_credentials'
      : 'grant_type_unregistered.authorization_code',
  );
}

// RFC 6749 A.1: visible ASCII.
const CLIENT_ID = /^[!-~]{1,255}$/;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** Returns true for a possible id of a client or resource server. Excludes NUL, which PostgreSQL cannot store. */
export function isClientId(text: string): boolean {
  return CLIENT_ID.test(text);
}

/** Returns true for the URL of a metadata document (section 3 of draft-ietf-oauth-client-id-metadata-document). */
export function isDocumentUrl(clientId: string): boolean {
  return /^https?:\/\//.test(clientId);
}

/** Puts the host before a name from a document (section 9.5 of draft-ietf-oauth-client-id-metadata-document). */
export function shownName(clientId: string, name: string, hasDocument: boolean): string {
  return hasDocument ? `${new URL(clientId).host} (${name})` : name;
}

/** Returns `sc_` and 24 lower-case base32 characters (RFC 4648 6): 120 random bits, safe in URLs and HTTP Basic. */
export function generateClientId(random: (size: number) => Buffer = randomBytes): string {
  return `sc_${base32(random(24))}`;
}

export function generateResourceServerId(random: (size: number) => Buffer = randomBytes): string {
  return `rs_${base32(random(24))}`;
}

/** Encodes the low five bits of each random byte, which are uniform, as one character. */
function base32(bytes: Buffer): string {
  return Array.from(bytes, (byte) => BASE32[byte & 31]).join('');
}

const sha256 = (text: string): Buffer => digestOf('sha256', text, 'buffer');

/** Secret scanners recognize the prefix `scs_`. SHA-256 suffices, because 256 random bits need no slow hash. */
export function generateClientSecret(random: (size: number) => Buffer = randomBytes): {
  secret: string;
  hash: Buffer;
} {
  const secret = `scs_${random(32).toString('base64url')}`;
  return { secret, hash: sha256(secret) };
}

/** Returns the id of the matching secret. Compares each hash in constant time, so that the duration reveals nothing. */
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

/** Describes keys by their URL or by their thumbprints (RFC 7638); returns an empty object without keys. */
export function describeKeys({ jwks, jwksUri }: ClientKeys): { keys?: string[]; jwks_uri?: string } {
  if (jwksUri !== null) return { jwks_uri: jwksUri };
  if (jwks === null) return {};
  return {
    keys: jwks.keys.map((key) => `${key.kid === undefined ? '' : `${key.kid}=`}${thumbprintOf(key)}`),
  };
}
