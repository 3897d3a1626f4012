import { ValidateBy } from 'class-validator';
import type { ClientType } from '#database/client/client.js';
import { checkRedirectUri } from '#oauth/redirect-uri.js';
import { SCOPES } from '#oauth/scope.js';

export const MAX_REDIRECT_URIS = 20;

/** What the operator wrote, quoted, so that control characters of pasted text do not reach the terminal. */
export const quoted = (text: string): string => JSON.stringify(text.slice(0, 200));

/** Makes a field valid when `problemsOf` its object finds nothing. */
export function Rule(problemsOf: (dto: never) => string[]): PropertyDecorator {
  return ValidateBy({
    name: 'rule',
    validator: {
      validate: (_, argument) => problemsOf(argument?.object as never).length === 0,
      defaultMessage: (argument) => problemsOf(argument?.object as never).join('\n'),
    },
  });
}

/** Between 1 and 100 characters, none of which is a control or format character, and no space at either end. */
const NAME = /^(?!\s)[^\p{C}]{1,100}(?<!\s)$/u;
/** A character with a glyph of its own: no mark, no space, no default-ignorable character, and not the blank Braille pattern. */
const VISIBLE = /[^\p{M}\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** @param subject what users see by this name, and when */
export function nameProblems(name: unknown, subject: string): string[] {
  if (name === undefined) return [`--name is missing: ${subject}`];
  return typeof name === 'string' && NAME.test(name) && VISIBLE.test(name)
    ? []
    : [
        `--name must be 1 to 100 printable characters, at least one of them visible, with no space at either end: ${subject}`,
      ];
}

/** @param flag the option by which the addresses came */
export function redirectUriProblems(flag: string, uris: readonly string[], type: ClientType): string[] {
  return uris.flatMap((uri, index) => {
    const problem = uris.indexOf(uri) < index ? 'is given twice: give it once' : checkRedirectUri(uri, type);
    return problem ? [`${flag} ${quoted(uri)} ${problem}`] : [];
  });
}

/** Hints about redirect URIs that are accepted but not recommended. */
export function redirectUriHints(uris: readonly string[], type: ClientType): string[] {
  return uris
    .filter((uri) => type === 'public' && /^http:\/\/localhost(?:[:/?]|$)/.test(uri))
    .map(
      (uri) =>
        `${quoted(uri)} matches any port. Use 127.0.0.1 or [::1] instead of localhost if the application can: each device resolves localhost itself (RFC 8252 8.3)`,
    );
}

export function scopeProblems(scopes: readonly string[]): string[] {
  const known = [...SCOPES.keys()].join(' ');
  return scopes
    .filter((scope) => !SCOPES.has(scope))
    .map((scope) => `--scope ${quoted(scope)} is unknown: the scopes are ${known}`);
}

/** @param scopes what the client may ask for */
export function optionalScopeProblems(optional: readonly string[], scopes: readonly string[]): string[] {
  return optional
    .filter((scope) => !scopes.includes(scope))
    .map((scope) => `--optional-scope ${quoted(scope)} is not among its scopes: give it by --scope as well`);
}
