import { type Prompt, PROMPTS } from '../authorization-parameters.js';
import type { OAuthClient } from '../oauth-client.js';
import { OAuthError } from '../oauth-error.js';
import { type Parameters, readParameter } from '../parameters.js';
import { defaultScope, type ScopeCatalogue, scopeTokens } from '../scope.js';
import { parseClaims } from './claims.js';
import { OPENID } from './openid-scopes.js';

/**
 * OpenID Connect Core 3.1.2.1: an authentication request has the scope `openid`, requested or by default. A client that
 * may not request `openid` gets an authorization without it.
 */
export function isAuthenticationRequest(
  parameters: Parameters,
  client: OAuthClient,
  catalogue: ScopeCatalogue,
): boolean {
  const requested = scopeTokens(readParameter(parameters, 'scope') ?? '');
  const scope = requested.length > 0 ? requested : defaultScope(client.scopes, catalogue);
  return catalogue.has(OPENID) && client.scopes.includes(OPENID) && scope.includes(OPENID);
}

/** Rejects a request object (OpenID Connect Core 6.1), because its parameters would be ignored. */
export function checkRequestObject(parameters: Parameters): void {
  if (readParameter(parameters, 'request') === undefined) return;
  throw new OAuthError('request_not_supported', 400, 'request_object_unsupported');
}

/** Adds registered scopes that grant the requested claims, so that the consent page shows them (Core 5.5). */
export function withClaims(
  scope: string,
  claims: string | undefined,
  { scopes: registered }: OAuthClient,
  catalogue: ScopeCatalogue,
): string {
  const requested = scopeTokens(scope);
  if (claims === undefined || !requested.includes(OPENID)) return scope;
  const granting = parseClaims(claims).scopes.filter(
    (scope) => registered.includes(scope) && catalogue.has(scope),
  );
  return [...new Set([...requested, ...granting])].join(' ');
}

/** OpenID Connect Core 3.1.2.1: "If this parameter contains none with any other value, an error is returned". */
export function checkPrompt(parameters: Parameters): ReadonlySet<Prompt> {
  const requested = (readParameter(parameters, 'prompt') ?? '').split(' ').filter((value) => value !== '');
  const prompts = new Set(PROMPTS.filter((prompt) => requested.includes(prompt)));
  const detail = { prompt: requested };
  if (requested.some((value) => !(PROMPTS as readonly string[]).includes(value)))
    throw OAuthError.invalidRequest({ id: 'prompt_invalid', prompts: PROMPTS }, { detail });
  if (prompts.has('none') && prompts.size > 1)
    throw OAuthError.invalidRequest('prompt_invalid.none', { detail });
  return prompts;
}

/** Returns the maximum seconds since the user was last "actively authenticated" (OpenID Connect Core 3.1.2.1). */
export function checkMaxAge(parameters: Parameters): number | null {
  const maxAge = readParameter(parameters, 'max_age');
  if (maxAge === undefined) return null;
  if (/^\d{1,9}$/.test(maxAge)) return Number(maxAge);
  throw OAuthError.invalidRequest('max_age_invalid');
}
