import { hash, randomBytes } from 'node:crypto';
import { type AuthorizationRequest } from './authorization-request.js';
import type { Parameters } from './parameters.js';

/** Prefix of a request URI (RFC 9126 2.2), followed by 256 random bits (7.1). */
const PREFIX = 'urn:ietf:params:oauth:request_uri:';
const REFERENCE = /^[A-Za-z0-9_-]{43}$/;

export function generateRequestUri(random: (size: number) => Buffer = randomBytes): string {
  return PREFIX + random(32).toString('base64url');
}

/** Distinguishes references of pushed requests from other request URIs (OpenID Connect Core 6.2). */
export function isPushedReference(requestUri: string): boolean {
  return requestUri.startsWith(PREFIX);
}

/** Returns the SHA-256 of the reference, so that stores and logs hold no usable request URI; null for another URI. */
export function pushedRequestId(requestUri: string): string | null {
  const reference = requestUri.startsWith(PREFIX) ? requestUri.slice(PREFIX.length) : '';
  return REFERENCE.test(reference) ? hash('sha256', reference, 'base64url') : null;
}

const STORED_NAMES: Readonly<Record<keyof AuthorizationRequest, string>> = {
  redirectUri: 'redirect_uri',
  state: 'state',
  responseMode: 'response_mode',
  scope: 'scope',
  resources: 'resource',
  challenge: 'code_challenge',
  jkt: 'dpop_jkt',
  prompt: 'prompt',
  loginHint: 'login_hint',
  maxAge: 'max_age',
  uiLocales: 'ui_locales',
  nonce: 'nonce',
  claims: 'claims',
  idTokenHint: 'id_token_hint',
};

const DEFAULTS: Readonly<Record<string, string>> = { response_mode: 'query' };

/** Serializes only the validated fields, never other parameters: about 200 bytes, at most 7 KB without `openid`. */
export function writePushedParameters(request: AuthorizationRequest): string {
  const kept: Record<string, string> = {};
  for (const [field, name] of Object.entries(STORED_NAMES)) {
    const value = request[field as keyof AuthorizationRequest];
    const text = typeof value === 'object' && value !== null ? [...value].join(' ') : String(value ?? '');
    if (text !== '' && text !== DEFAULTS[name]) kept[name] = text;
  }
  return JSON.stringify(kept);
}

/** The caller validates the parameters again, because the client's registration may have changed since the push. */
export function readPushedParameters(text: string): Parameters {
  const { resource, ...stored } = JSON.parse(text) as Record<string, string>;
  // A pushed request cannot have another response type (RFC 6749 4.1.1).
  const kept: Record<string, string> = { ...stored, response_type: 'code' };
  // S256 is the only supported method (RFC 7636 4.3).
  if ('code_challenge' in kept) kept['code_challenge_method'] = 'S256';
  return resource === undefined ? kept : { ...kept, resource: resource.split(' ') };
}
