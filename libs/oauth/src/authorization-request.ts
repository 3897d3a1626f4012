import { decodeJwt } from 'jose';
import { type Prompt, RESPONSE_MODES, type ResponseMode } from './authorization-parameters.js';
import type { OAuthClient } from './oauth-client.js';
import { OAuthError } from './oauth-error.js';
import { type Parameters, readParameter } from './parameters.js';
import {
  checkMaxAge,
  checkPrompt,
  checkRequestObject,
  isAuthenticationRequest,
  withClaims,
} from './openid/authentication-request.js';
import { isChallenge } from './pkce.js';
import type { Reason } from './reasons.js';
import { RedirectableError, type ReturnAddress } from './redirectable.error.js';
import { checkRedirectUri } from './redirect-uri.js';
import { checkResource, checkScope, type ScopeCatalogue, scopeTokens } from './scope.js';

/** A valid authorization request (RFC 6749 4.1.1, RFC 7636 4.3). */
export interface AuthorizationRequest extends ReturnAddress {
  /** Space-separated, never empty. */
  readonly scope: string;
  /** APIs that the tokens are valid for (RFC 8707), from `checkResource`; null for every API. */
  readonly resources: string | null;
  /** S256 challenge; null if a confidential client did not send one. */
  readonly challenge: string | null;
  /** Thumbprint of the key required to redeem the code (`dpop_jkt`, RFC 9449 10). */
  readonly jkt: string | null;
  readonly prompt: ReadonlySet<Prompt>;
  /** Prefills the login form and has no other effect. */
  readonly loginHint: string | null;
  /** Maximum seconds since the user's authentication (`max_age`, OpenID Connect Core 3.1.2.1). */
  readonly maxAge: number | null;
  /** Space-separated. */
  readonly uiLocales: string | null;
  /** Value for the ID token; null without the scope `openid`, like `claims` and `idTokenHint`. */
  readonly nonce: string | null;
  /** JSON for `parseClaims`. */
  readonly claims: string | null;
  /** Not verified. */
  readonly idTokenHint: string | null;
}

/**
 * Validates a request to the authorize endpoint or the PAR endpoint (RFC 9126 2.1, step 3). The order matters:
 * 1. the redirect URI, because no error may be redirected to an unregistered URI;
 * 2. the requirement to push, because correcting any other value would not help a client that must push;
 * 3. the state, so that every later error carries it;
 * 4. the other values, starting with those that affect the meaning of others.
 * @throws OAuthError if the redirect URI is invalid; RedirectableError if a later check fails
 */
export function checkAuthorizationRequest(
  parameters: Parameters,
  client: OAuthClient,
  {
    scopes,
    pushRequired = false,
    apis = [],
  }: {
    readonly scopes: ScopeCatalogue;
    /** True to reject the request because it was not pushed. */
    readonly pushRequired?: boolean;
    /** Origins that `resource` may name. */
    readonly apis?: readonly string[];
  },
): AuthorizationRequest {
  const redirectUri = checkRedirectUri(readParameter(parameters, 'redirect_uri'), client);
  try {
    // RFC 9126 5 and 6: the client or this server requires pushed requests.
    if (pushRequired) throw OAuthError.invalidRequest('push_required');
    const isAuthentication = isAuthenticationRequest(parameters, client, scopes);
    // Precedes the other checks, because a request object may contain the other parameters.
    if (isAuthentication) checkRequestObject(parameters);
    const state = checkState(parameters, client);
    const requested = scopeTokens(readParameter(parameters, 'scope') ?? '');
    checkResponseType(parameters, isAuthentication && requested.length > 0);
    const responseMode = checkResponseMode(parameters, redirectUri);
    const challenge = checkPkce(parameters, client);
    const jkt = checkDpopKey(parameters);
    const claims = readParameter(parameters, 'claims');
    const scope = withClaims(checkScope(requested, client.scopes, scopes), claims, client, scopes);
    const nonce = readParameter(parameters, 'nonce');
    const idTokenHint = readParameter(parameters, 'id_token_hint');
    const resources = checkResource(parameters['resource'], apis);
    const prompt = checkPrompt(parameters);
    const loginHint = readParameter(parameters, 'login_hint') ?? null;
    const maxAge = checkMaxAge(parameters);
    const uiLocales = localeTags(readParameter(parameters, 'ui_locales') ?? '') || null;
    const openId = isAuthentication
      ? { nonce: nonce ?? null, claims: claims ?? null, idTokenHint: idTokenHint ?? null }
      : NOT_AUTHENTICATION;
    const hints = { prompt, loginHint, maxAge, uiLocales };
    return { redirectUri, state, responseMode, scope, resources, challenge, jkt, ...hints, ...openId };
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    throw new RedirectableError(error, returnAddress(parameters, redirectUri), client);
  }
}

/** Returns the error, as a RedirectableError if the request has a registered redirect URI. */
export function redirectable(error: OAuthError, parameters: Parameters, client: OAuthClient): OAuthError {
  try {
    const redirectUri = checkRedirectUri(readParameter(parameters, 'redirect_uri'), client);
    return new RedirectableError(error, returnAddress(parameters, redirectUri), client);
  } catch {
    return error;
  }
}

/**
 * Returns `ui_locales` as space-separated BCP 47 tags (OpenID Connect Core 3.1.2.1). Accepts underscores and commas,
 * which clients send in place of hyphens and spaces (known deviation).
 */
export function localeTags(uiLocales: string): string {
  return uiLocales.replaceAll('_', '-').replaceAll(/[ ,]+/g, ' ').trim();
}

const NOT_AUTHENTICATION = { nonce: null, claims: null, idTokenHint: null } as const;

/**
 * Maximum bytes of an encoded state. With a redirect URI of 2,000 characters, the client's request line is shorter than
 * the 8 KB that nginx accepts by default.
 */
const MAX_ENCODED_STATE = 5_500;

/** Known deviation from RFC 6749 A.5, which allows only printable ASCII: returns other text unchanged. */
function checkState(parameters: Parameters, { requireState }: OAuthClient): string | null {
  const state = readParameter(parameters, 'state');
  if (state !== undefined) {
    if (isReturnable(state)) return state;
    throw OAuthError.invalidRequest(
      { id: 'parameter_invalid.state_too_long', max: MAX_ENCODED_STATE },
      { detail: { parameter: 'state' } },
    );
  }
  if (!requireState) return null;
  // RFC 6749 10.12: "The client MUST implement CSRF protection for its redirection URI."
  throw OAuthError.invalidRequest('state_missing');
}

function isReturnable(state: string): boolean {
  return encodeURIComponent(state).length <= MAX_ENCODED_STATE;
}

/**
 * An error response uses the response mode of the request, if it is valid, and the "exact value" of its state (RFC 6749
 * 4.1.2.1), even if the state is the error.
 */
function returnAddress(parameters: Parameters, redirectUri: string): ReturnAddress {
  const { state } = parameters;
  return {
    redirectUri,
    state: typeof state === 'string' && ifValid(() => isReturnable(state)) ? state : null,
    responseMode: ifValid(() => errorMode(withRequestObject(parameters), redirectUri)) ?? 'query',
  };
}

/**
 * A client that asks for a token or an ID token reads the response, also an error, in the fragment (Multiple Response
 * Type Encoding Practices 5), unless it asks for another mode.
 */
function errorMode(parameters: Parameters, redirectUri: string): ReturnAddress['responseMode'] {
  const { response_mode: mode = 'fragment', response_type: type } = parameters;
  const readsFragment = mode === 'fragment' && /\b(?:id_token|token)\b/.test(String(type));
  return readsFragment ? 'fragment' : checkResponseMode(parameters, redirectUri);
}

/** Adds the unverified parameters of a request object, which determine only how the error is returned. */
function withRequestObject(parameters: Parameters): Parameters {
  const request = readParameter(parameters, 'request');
  return request === undefined ? parameters : { ...parameters, ...decodeJwt(request) };
}

function ifValid<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/**
 * Known deviation from RFC 6749 4.1.1: defaults to `code` (docs/specification.md), except with the scope `openid`
 * (OpenID Connect Core 3.1.2.1).
 */
function checkResponseType(parameters: Parameters, isRequired: boolean): void {
  const responseType = readParameter(parameters, 'response_type');
  if (responseType === 'code') return;
  if (responseType === undefined) {
    if (!isRequired) return;
    throw OAuthError.invalidRequest('response_type_missing');
  }
  throw new OAuthError('unsupported_response_type', 400, 'response_type_unsupported', {
    detail: { response_type: responseType },
  });
}

/**
 * Multiple Response Type Encoding Practices 2.1. Rejects an unknown mode, because another mode would send the response
 * where the client does not expect it.
 */
function checkResponseMode(parameters: Parameters, redirectUri: string): ResponseMode {
  const requested = readParameter(parameters, 'response_mode') ?? 'query';
  const responseMode = RESPONSE_MODES.find((mode) => mode === requested);
  const detail = { response_mode: requested };
  if (responseMode === undefined)
    throw OAuthError.invalidRequest({ id: 'response_mode_unsupported', modes: RESPONSE_MODES }, { detail });
  // An app with a private-use URI scheme (RFC 8252 7.1) cannot receive a POST.
  if (responseMode === 'form_post' && !/^https?:/i.test(redirectUri))
    throw OAuthError.invalidRequest('response_mode_unsupported.form_post', { detail });
  return responseMode;
}

/**
 * RFC 9700 2.1.1: "Public clients MUST use PKCE". Accepts only S256, because a plain challenge is the verifier itself.
 * Also requires PKCE if `state` is optional, because PKCE is then the client's only protection against CSRF (2.1).
 */
function checkPkce(parameters: Parameters, { type, requireState }: OAuthClient): string | null {
  const challenge = readParameter(parameters, 'code_challenge');
  const method = readParameter(parameters, 'code_challenge_method');
  const refused = (reason: Extract<Reason, `code_challenge_invalid.${string}`>) =>
    OAuthError.invalidRequest(reason, {
      detail: method === undefined ? {} : { code_challenge_method: method },
    });
  if (challenge === undefined) {
    if (method !== undefined) throw refused('code_challenge_invalid.missing');
    if (type === 'public') throw refused('code_challenge_invalid.required');
    if (!requireState) throw refused('code_challenge_invalid.required_without_state');
    return null;
  }
  // RFC 7636 4.3: code_challenge_method "defaults to plain if not present in the request".
  if (method === undefined) throw refused('code_challenge_invalid.plain');
  // RFC 7636 4.4.1: an unsupported transformation is an invalid_request.
  if (method !== 'S256') throw refused('code_challenge_invalid.method');
  if (!isChallenge(challenge)) throw refused('code_challenge_invalid.format');
  return challenge;
}

/** SHA-256 in base64url (RFC 7638 3); the last character carries four bits. */
const THUMBPRINT = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

/** Rejects a `dpop_jkt` that no key can match, before the user sees the consent page (RFC 9449 10). */
function checkDpopKey(parameters: Parameters): string | null {
  const jkt = readParameter(parameters, 'dpop_jkt');
  if (jkt === undefined) return null;
  if (THUMBPRINT.test(jkt)) return jkt;
  throw OAuthError.invalidRequest('dpop_jkt_invalid');
}
