import {
  ASSERTION_ALGORITHMS,
  MAX_CLIENT_KEYS,
  MAX_JWKS,
  MAX_KID,
} from '#oauth/client-assertion/client-keys.js';
import type { KeyProblem } from '#oauth/jwk.js';
import { LIMITS } from '#oauth/parameters.js';
import type { PrivateSchemeProblem, RedirectUriProblem } from '#oauth/redirect-uri.js';

type UriText = string | ((url: { readonly href: string; readonly scheme: string }) => string);

const REDIRECT_URI: Readonly<Record<RedirectUriProblem, UriText>> = {
  too_long: `is longer than ${LIMITS.redirect_uri} characters: shorten it`,
  characters: 'has spaces, control or non-ASCII characters, or is empty: percent-encode them',
  percent: 'has a % without two hexadecimal digits after it: encode a literal % as %25',
  wildcard: 'has a wildcard: register each address in full',
  relative: 'is not an absolute URI: write it in full, like https://app.example.com/callback',
  fragment: 'has a fragment: remove the # and what follows it',
  userinfo: 'has a user name or password: remove everything before the @',
  unencrypted: 'is not encrypted: use https (http is for 127.0.0.1, [::1] and localhost)',
  unencrypted_fapi:
    'must use https, as every redirect URI of a client with the profile fapi2 (FAPI 2.0 5.3.2.2)',
  private_scheme: ({ scheme }) =>
    `has the scheme ${scheme}: use https (other schemes are for public clients)`,
  unknown_scheme: ({ scheme }) =>
    `has the scheme ${scheme}: use https, your reversed domain name like com.example.app, or a private scheme that the operator admits`,
  no_path: ({ scheme }) => `has no path: write it like ${scheme}:/callback`,
  dot_segment: 'has . or .. as a path segment: write the resolved path',
  rewritten: ({ href }) => `is not in the form that browsers send: write ${href}`,
};

/** Returns a predicate about the URI. */
export function redirectUriText(problem: RedirectUriProblem, uri: string): string {
  const { [problem]: text } = REDIRECT_URI;
  if (typeof text === 'string') return text;
  const { href, protocol } = new URL(uri);
  return text({ href, scheme: protocol.slice(0, -1) });
}

export const PRIVATE_SCHEME_TEXTS: Readonly<Record<PrivateSchemeProblem, string>> = {
  reversed_domain: 'is a reversed domain name, which needs no admission: leave it out',
  malformed: 'must be the scheme alone, in lower case, like cursor for cursor://callback',
  reserved: 'belongs to browsers or operating systems, and is never admitted',
};

const KEY: Readonly<Record<Exclude<KeyProblem['id'], 'other_type'>, string>> = {
  unreadable: 'cannot be read, or is empty: give a JWK Set with the public keys (RFC 7517 5)',
  too_long: `is longer than ${MAX_JWKS} characters`,
  too_deep: 'is nested too deeply',
  not_json: 'is not valid JSON',
  not_a_set: 'must be a JWK Set: an object with the list "keys" (RFC 7517 5)',
  empty: 'contains no key',
  too_many: `contains more than ${MAX_CLIENT_KEYS} keys: remove the retired ones`,
  kid_repeated: 'has two keys with the same kid: an assertion selects its key by it',
  not_an_object: 'is not a JSON object',
  private: 'contains a private key: give the public key only, and replace this one',
  symmetric: 'is a shared secret: give a public key',
  use: 'is not for signatures: its use must be sig',
  key_ops: 'is not for verification: its key_ops must contain verify',
  kid: `has a kid that is not a text of 1 to ${MAX_KID} characters`,
  alg: `has an alg that is not one of ${ASSERTION_ALGORITHMS.join(', ')}`,
  type: 'must be an RSA key, an EC key of P-256, or an OKP key of Ed25519',
  x: 'has an x that is not a coordinate',
  y: 'has a y that is not a coordinate',
  modulus: 'must have 2048 to 4096 bits',
  exponent: 'must have the exponent 65537',
  not_importable: 'cannot be imported',
};

/** Returns a predicate about the key or the set. */
export function keyText({ id, alg, key }: KeyProblem): string {
  const text = id === 'other_type' ? `is not a key for ${alg ?? ''}` : KEY[id];
  return key === undefined ? text : `is refused: key ${key} ${text}`;
}
