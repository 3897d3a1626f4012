import { readFile, stat } from 'node:fs/promises';
import { MAX_JWKS, readRegisteredKeys } from '#oauth/client-assertion/client-keys.js';
import type { ClientKeys } from '#oauth/client.js';
import { InvalidKeyError } from '#oauth/jwk.js';
import { quoted } from '../command-line/input.js';
import { isLink } from './client-links.js';

export interface KeyOptions {
  /** Path of a file. */
  readonly jwks?: string;
  readonly jwksUri?: string;
}

export interface GivenKeys {
  /** Undefined without an option. */
  readonly keys?: ClientKeys;
  readonly problems: readonly string[];
}

const NO_KEYS: ClientKeys = { jwks: null, jwksUri: null };

/** Reads the options `--jwks` and `--jwks-uri`; `none` removes the keys. */
export async function readKeys({ jwks: file, jwksUri }: KeyOptions): Promise<GivenKeys> {
  if (file !== undefined && jwksUri !== undefined)
    return { problems: ['--jwks and --jwks-uri exclude each other: give one'] };
  if (file === 'none' || jwksUri === 'none') return { keys: NO_KEYS, problems: [] };
  if (jwksUri !== undefined) {
    const problem = jwksUriProblem(jwksUri);
    return problem === null
      ? { keys: { jwks: null, jwksUri }, problems: [] }
      : { problems: [`--jwks-uri ${quoted(jwksUri)} ${problem}`] };
  }
  if (file === undefined) return { problems: [] };
  const text = await readBounded(file).catch(() => null);
  if (text === null)
    return {
      problems: ['--jwks cannot be read: give the path of a JWK Set with the public keys (RFC 7517 5)'],
    };
  const keys = keysOf(text);
  return typeof keys === 'string' ? { problems: [`--jwks ${keys}`] } : { keys, problems: [] };
}

/** @returns the keys, or the problem */
export function keysOf(text: string): ClientKeys | string {
  try {
    return { jwks: readRegisteredKeys(text), jwksUri: null };
  } catch (error) {
    if (error instanceof InvalidKeyError) return error.message;
    throw error;
  }
}

export function jwksUriProblem(uri: string): string | null {
  return isLink(uri) && !uri.includes('#') ? null : 'must be an https URL without user name and fragment';
}

async function readBounded(file: string): Promise<string> {
  const { size } = await stat(file);
  // UTF-8 has at most four bytes per character.
  if (size > 4 * MAX_JWKS) return ' '.repeat(MAX_JWKS + 1);
  return readFile(file, 'utf8');
}
