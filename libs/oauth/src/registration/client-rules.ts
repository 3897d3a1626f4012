import { isAdminScope } from '../client-credentials.js';
import type { ClientType } from '../oauth-client.js';
import {
  MAX_PRIVATE_SCHEMES,
  needsAdmission,
  privateSchemeProblem,
  type RedirectUriRules,
  registrationProblem,
} from '../redirect-uri.js';
import type { ScopeCatalogue } from '../scope.js';
import { quoted } from '../text.js';

export const MAX_REDIRECT_URIS = 20;

const NAME = /^(?!\s)[^\p{C}]{1,100}(?<!\s)$/u;
/** Excludes marks, spaces, default-ignorable characters and the blank Braille pattern. */
const VISIBLE = /[^\p{M}\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** @param purpose text for messages that says where the name is shown */
export function nameProblems(field: string, name: unknown, purpose: string): string[] {
  if (name === undefined) return [`${field} is missing: ${purpose}`];
  if (typeof name === 'string' && NAME.test(name) && VISIBLE.test(name)) return [];
  return [
    `${field} must be 1 to 100 printable characters, at least one of them visible, with no space at either end: ${purpose}`,
  ];
}

/** Puts the name of a field before each of its problems. */
export function named(field: string, problems: readonly string[]): string[] {
  return problems.map((problem) => `${field} ${problem}`);
}

export function redirectUriProblems(uris: readonly string[], rules: RedirectUriRules): string[] {
  return uris.flatMap((uri, index) => {
    const problem =
      uris.indexOf(uri) < index ? 'is given twice: give it once' : registrationProblem(uri, rules);
    return problem ? [`${quoted(uri)} ${problem}`] : [];
  });
}

/** Applies the rules for redirect URIs, because browsers are redirected to these URIs too. */
export function postLogoutProblems(uris: readonly string[], rules: RedirectUriRules): string[] {
  if (uris.length > MAX_REDIRECT_URIS) return [`has more than ${MAX_REDIRECT_URIS}: give fewer`];
  return redirectUriProblems(uris, rules);
}

/**
 * Applies the rules for confidential clients to every client, because a server gets the logout token (section 2.2 of
 * Back-Channel Logout 1.0).
 */
export function backchannelProblems(uri: string | null): string[] {
  return uri === null ? [] : redirectUriProblems([uri], { type: 'confidential' });
}

export function redirectUriHints(uris: readonly string[], type: ClientType): string[] {
  return uris.flatMap((uri) => {
    if (type === 'public' && /^http:\/\/localhost(?:[:/?]|$)/.test(uri))
      return [
        `${quoted(uri)} matches any port. Use 127.0.0.1 or [::1] instead of localhost if the application can: each device resolves localhost itself (RFC 8252 8.3)`,
      ];
    return needsAdmission(uri)
      ? [
          `${quoted(uri)}: any program on a user’s device can register this scheme, and then receives the user’s codes. A program that has also started the request can redeem them. Users are asked for consent every time (RFC 8252 8.6)`,
        ]
      : [];
  });
}

/** Only public clients have private-use schemes, because those must use PKCE (RFC 8252 7.1, 8.1). */
export function privateSchemeProblems(schemes: readonly string[], type: ClientType): string[] {
  if (schemes.length > 0 && type === 'confidential') return ['is for public clients, which must use PKCE'];
  if (schemes.length > MAX_PRIVATE_SCHEMES) return [`has more than ${MAX_PRIVATE_SCHEMES}: give fewer`];
  return schemes.flatMap((scheme) => {
    const problem = privateSchemeProblem(scheme);
    return problem === null ? [] : [`${quoted(scheme)} ${problem}`];
  });
}

/** Problems of redirect URIs whose scheme is no longer admitted. */
export function schemesInUse(uris: readonly string[], withdrawn: readonly string[]): string[] {
  return uris
    .filter((uri) => withdrawn.includes(uri.slice(0, uri.indexOf(':'))))
    .map((uri) => `must admit the scheme of ${quoted(uri)}, or remove that address as well`);
}

export function optionalScopeProblems(optional: readonly string[], scopes: readonly string[]): string[] {
  return optional
    .filter((scope) => !scopes.includes(scope))
    .map((scope) => `${quoted(scope)} is not among its scopes: add it to them as well`);
}

/** Skips the scopes of the HTTP API, which `grantTypeProblems` checks. */
export function scopeProblems(scopes: readonly string[], catalogue: ScopeCatalogue): string[] {
  return scopes
    .filter((scope) => !catalogue.has(scope) && !isAdminScope(scope))
    .map((scope) => `${quoted(scope)} is unknown: the scopes are ${catalogue.names.join(' ')}`);
}

export function rotationProblems(rotates: boolean | undefined, dpopBound: boolean): string[] {
  return rotates === false && !dpopBound
    ? [
        '‹refreshTokenRotation› off needs ‹dpopBound›: only a key protects a refresh token that does not rotate (RFC 9700 4.14.2)',
      ]
    : [];
}
