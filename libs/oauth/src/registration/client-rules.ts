import { isAdminScope } from '../client-credentials.js';
import type { ClientType } from '../client.js';
import { registrationProblem } from '../redirect-uri.js';
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

export function redirectUriProblems(uris: readonly string[], type: ClientType): string[] {
  return uris.flatMap((uri, index) => {
    const problem =
      uris.indexOf(uri) < index ? 'is given twice: give it once' : registrationProblem(uri, type);
    return problem ? [`${quoted(uri)} ${problem}`] : [];
  });
}

/** Applies the rules for redirect URIs, because browsers are redirected to these URIs too. */
export function postLogoutProblems(uris: readonly string[], type: ClientType): string[] {
  if (uris.length > MAX_REDIRECT_URIS) return [`has more than ${MAX_REDIRECT_URIS}: give fewer`];
  return redirectUriProblems(uris, type);
}

/**
 * Applies the rules for confidential clients to every client, because a server gets the logout token (section 2.2 of
 * Back-Channel Logout 1.0).
 */
export function backchannelProblems(uri: string | null): string[] {
  return uri === null ? [] : redirectUriProblems([uri], 'confidential');
}

export function redirectUriHints(uris: readonly string[], type: ClientType): string[] {
  return uris
    .filter((uri) => type === 'public' && /^http:\/\/localhost(?:[:/?]|$)/.test(uri))
    .map(
      (uri) =>
        `${quoted(uri)} matches any port. Use 127.0.0.1 or [::1] instead of localhost if the application can: each device resolves localhost itself (RFC 8252 8.3)`,
    );
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
