import { IsOptional, IsString } from 'class-validator';
import { type ClientJwkSet, readRegisteredKeys } from '#oauth/client-assertion/client-keys.js';
import { InvalidKeyError, isPrivateJwk, type KeyProblem } from '#oauth/jwk.js';
import { isJwksUri } from '#oauth/links.js';
import type { ClientKeys } from '#oauth/oauth-client.js';
import { type Problem, problem, reports } from '#platform/validation/problem.js';
import { IsJson, Rule, Satisfies } from '#platform/validation/validate.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    keys_invalid: KeyProblem;
    jwks_uri_invalid: null;
    fields_exclude_each_other: { readonly others: readonly string[] };
  }
}

/** Keys of a client or of the account of an API. */
export class GivenKeys {
  /** JWK Set with public keys (RFC 7517 5). */
  @IsJson()
  @IsOptional()
  @Rule(({ jwks, jwksUri }: GivenKeys) =>
    isAbsent(jwks) || isAbsent(jwksUri)
      ? keySetProblems('jwks', jwks)
      : [problem('fields_exclude_each_other', 'jwks', { others: ['jwksUri'] })],
  )
  jwks?: string | object | null;

  @Satisfies(isJwksUri, reports('jwks_uri_invalid'))
  @IsString()
  @IsOptional()
  jwksUri?: string | null;
}

export const isAbsent = (value: unknown): value is null | undefined => (value ?? null) === null;

/** @param given without a problem */
export function clientKeys({ jwks, jwksUri = null }: GivenKeys): ClientKeys {
  return { jwks: isAbsent(jwks) ? null : readKeySet(jwks), jwksUri };
}

export function keySetProblems(
  field: string,
  given: string | object | null | undefined,
): Problem<'keys_invalid'>[] {
  try {
    if (!isAbsent(given)) readKeySet(given);
    return [];
  } catch (error) {
    if (error instanceof InvalidKeyError) return [problem('keys_invalid', field, error.problem)];
    throw error;
  }
}

/** @throws InvalidKeyError */
export function readKeySet(given: string | object): ClientJwkSet {
  return readRegisteredKeys(typeof given === 'string' ? given : jsonOf(given));
}

/** @throws InvalidKeyError because `JSON.parse` accepts deeper nesting than `JSON.stringify` */
function jsonOf(value: object): string {
  try {
    return JSON.stringify(value);
  } catch {
    throw new InvalidKeyError('too_deep');
  }
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
    return hasPrivateKey(JSON.parse(asJwkSet(text)));
  } catch {
    return false;
  }
}

export function hasPrivateKey(jwks: unknown): boolean {
  const keys = typeof jwks === 'object' && jwks !== null && 'keys' in jwks ? jwks.keys : null;
  return Array.isArray(keys) && keys.some(isPrivateJwk);
}
