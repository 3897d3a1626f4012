import type { AuthorizationRequest } from './authorization-request.js';
import { RequestParameters } from './request-parameters.js';

/** The parameter that each part of a request came from. Its client is known by the key under which it is stored. */
const PARAMETERS: Readonly<Record<Exclude<keyof AuthorizationRequest, 'client'>, string>> = {
  redirectUri: 'redirect_uri',
  state: 'state',
  scope: 'scope',
  challenge: 'code_challenge',
  jkt: 'dpop_jkt',
  prompt: 'prompt',
  loginHint: 'login_hint',
  uiLocales: 'ui_locales',
};

/**
 * What is stored of a pushed request that passed the checks: what they made of it, and nothing else that was sent: some 200
 * bytes of UTF-8, and less than 7 KB.
 */
export function writePushedParameters(request: AuthorizationRequest): string {
  const kept: Record<string, string> = {};
  for (const [part, name] of Object.entries(PARAMETERS)) {
    const value = request[part as keyof typeof PARAMETERS];
    const text = typeof value === 'object' && value !== null ? [...value].join(' ') : value;
    if (text) kept[name] = text;
  }
  return JSON.stringify(kept);
}

/** The parameters of a request that was pushed, to be checked again: its client may have changed since. */
export function readPushedParameters(text: string): RequestParameters {
  const kept = JSON.parse(text) as Record<string, string>;
  // The only method there is (RFC 7636 4.3).
  const method = 'code_challenge' in kept && { code_challenge_method: 'S256' };
  return RequestParameters.fromBody({ ...kept, ...method });
}
