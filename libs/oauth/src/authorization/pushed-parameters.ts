import type { AuthorizationRequest } from './authorization-request.js';
import { RequestParameters } from './request-parameters.js';

/** The request parameter behind each field. The client is stored beside the parameters, not among them. */
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
 * Serializes a validated pushed request. Only validated fields are stored, never other parameters that the client sent:
 * about 200 bytes of UTF-8, at most 7 KB.
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

/** Reads stored parameters. They are validated again, because the client's registration may have changed since the push. */
export function readPushedParameters(text: string): RequestParameters {
  const kept = JSON.parse(text) as Record<string, string>;
  // S256 is the only supported method (RFC 7636 4.3).
  const method = 'code_challenge' in kept && { code_challenge_method: 'S256' };
  return RequestParameters.fromBody({ ...kept, ...method });
}
