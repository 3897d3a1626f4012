import { type ClientJwk, MAX_JWKS, readRegisteredKeys } from '#oauth/client-assertion/client-keys.js';
import { type ClientKeys, hasKeys } from '#oauth/oauth-client.js';
import { InvalidKeyError, isPrivateJwk } from '#oauth/jwk.js';
import type { Problem } from '#operations/administration.error.js';
import { quoted } from '#operations/wording.js';
import { jwksUriProblem } from '#oauth/registration/client-links.js';

export { MAX_JWKS };

export interface GivenKeys {
  readonly jwks?: string | object | null;
  readonly jwksUri?: string | null;
}

/** Omits `keys` if neither field is given or a field is invalid. */
export function readKeys({ jwks, jwksUri }: GivenKeys): {
  readonly keys?: ClientKeys;
  readonly problems: readonly Problem[];
} {
  if (jwks === undefined && jwksUri === undefined) return { problems: [] };
  if ((jwks ?? null) !== null && (jwksUri ?? null) !== null)
    return { problems: [problem('jwks', '‹jwks› and ‹jwksUri› exclude each other: give one')] };
  if ((jwks ?? null) !== null) {
    const keys = keysOf(typeof jwks === 'string' ? jwks : JSON.stringify(jwks));
    return typeof keys === 'string'
      ? { problems: [problem('jwks', `‹jwks› ${keys}`)] }
      : { keys, problems: [] };
  }
  const wrong = jwksUri ? jwksUriProblem(jwksUri) : null;
  return wrong === null
    ? { keys: { jwks: null, jwksUri: jwksUri ?? null }, problems: [] }
    : { problems: [problem('jwksUri', `‹jwksUri› ${quoted(jwksUri ?? '')} ${wrong}`)] };
}

/** Reads keys to add to the registered keys. @param given a JWK (RFC 7517 4) or a JWK Set (5) */
export function readAddedKeys(given: string | object | undefined): {
  readonly addedKeys?: readonly ClientJwk[];
  readonly problems: readonly Problem[];
} {
  if (given === undefined) return { problems: [] };
  const keys = keysOf(asJwkSet(given));
  return typeof keys === 'string'
    ? { problems: [problem('addKeys', `‹addKeys› ${keys}`)] }
    : { addedKeys: keys.jwks?.keys ?? [], problems: [] };
}

/** Returns the text of a set, also for a single key. Text that is not JSON stays as it is. */
export function asJwkSet(given: string | object): string {
  const value = typeof given === 'string' ? parsed(given) : given;
  if (value === undefined) return given as string;
  const isSet = typeof value === 'object' && value !== null && 'keys' in value;
  return JSON.stringify(isSet ? value : { keys: [value] });
}

/** Returns undefined for text that is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns true for a JWK or JWK Set that contains a private key, which nothing may show or store. */
export function containsPrivateKey(text: string): boolean {
  try {
    const { keys } = JSON.parse(asJwkSet(text)) as { readonly keys: unknown };
    return Array.isArray(keys) && keys.some(isPrivateJwk);
  } catch {
    return false;
  }
}

export function keysToStore(keys: ClientKeys | undefined): { keys?: ClientKeys } {
  return keys && hasKeys(keys) ? { keys } : {};
}

export function keysOf(text: string): ClientKeys | string {
  if (text === '') return 'cannot be read, or is empty: give a JWK Set with the public keys (RFC 7517 5)';
  try {
    return { jwks: readRegisteredKeys(text), jwksUri: null };
  } catch (error) {
    if (error instanceof InvalidKeyError) return error.message;
    throw error;
  }
}

const problem = (field: string, message: string): Problem => ({ id: 'keys_invalid', field, message });
