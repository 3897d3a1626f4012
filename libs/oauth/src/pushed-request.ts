import { hash, randomBytes } from 'node:crypto';
import type { AuthorizationRequest } from './authorization-request.js';
import type { Parameters } from './parameters.js';

/** RFC 9126 2.2. It is followed by 256 random bits, against guessing (7.1). */
const PREFIX = 'urn:ietf:params:oauth:request_uri:';
const REFERENCE = /^[A-Za-z0-9_-]{43}$/;

/**
 * A new request URI, known only to the client that gets it and to the browser that it sends.
 *
 * @param random source of random bytes
 */
export function generateRequestUri(random: (size: number) => Buffer = randomBytes): string {
  return PREFIX + random(32).toString('base64url');
}

/**
 * The id under which stores and logs know a pushed request: base64url of the SHA-256 of its reference, so that the
 * contents of Redis, a backup or a log open no request.
 *
 * @returns null when it is not a request URI of this service
 */
export function pushedRequestId(requestUri: string): string | null {
  const reference = requestUri.startsWith(PREFIX) ? requestUri.slice(PREFIX.length) : '';
  return REFERENCE.test(reference) ? hash('sha256', reference, 'base64url') : null;
}

/** The name under which each field of a request is stored: that of its parameter. */
const PARAMETERS: Readonly<Record<keyof AuthorizationRequest, string>> = {
  redirectUri: 'redirect_uri',
  state: 'state',
  scope: 'scope',
  // Not `resource`: the authorize app of 0.1.0, which would refuse it there, ignores this one.
  resources: 'resources',
  challenge: 'code_challenge',
  jkt: 'dpop_jkt',
  prompt: 'prompt',
  loginHint: 'login_hint',
  maxAge: 'max_age',
  uiLocales: 'ui_locales',
};

/**
 * Serializes a validated pushed request. Only validated fields are stored, never other parameters that the client sent:
 * about 200 bytes of UTF-8, at most 7 KB.
 */
export function writePushedParameters(request: AuthorizationRequest): string {
  const kept: Record<string, string> = {};
  for (const [field, name] of Object.entries(PARAMETERS)) {
    const value = request[field as keyof AuthorizationRequest];
    const text = typeof value === 'object' && value !== null ? [...value].join(' ') : String(value ?? '');
    if (text !== '') kept[name] = text;
  }
  return JSON.stringify(kept);
}

/** Reads stored parameters. They are validated again, because the client's registration may have changed since the push. */
export function readPushedParameters(text: string): Parameters {
  const { resources, ...kept } = JSON.parse(text) as Record<string, string>;
  // S256 is the only supported method (RFC 7636 4.3).
  if ('code_challenge' in kept) kept['code_challenge_method'] = 'S256';
  return resources === undefined ? kept : { ...kept, resource: resources.split(' ') };
}
