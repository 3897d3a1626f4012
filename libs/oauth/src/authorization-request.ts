import { decodeJwt } from 'jose';
import type { OAuthClient } from './client.js';
import { type ErrorDetail, OAuthError } from './oauth-error.js';
import { type Parameters, readParameter } from './parameters.js';
import { parseClaims } from './openid/claims.js';
import { OPENID } from './openid/openid-scopes.js';
import { isChallenge } from './pkce.js';
import { isRegistered } from './redirect-uri.js';
import { checkResource } from './resource.js';
import { type ScopeCatalogue, scopeTokens } from './scope.js';

/** Values of `prompt` (OpenID Connect Core 3.1.2.1), in the order of the metadata. */
export const PROMPTS = ['none', 'login', 'consent', 'select_account'] as const;

type Prompt = (typeof PROMPTS)[number];

/** OAuth 2.0 Multiple Response Type Encoding Practices 2.1, OAuth 2.0 Form Post Response Mode; the first is the default. */
export const RESPONSE_MODES = ['query', 'form_post'] as const;

type ResponseMode = (typeof RESPONSE_MODES)[number];

export interface AuthorizationParameter {
  readonly description: string;
  readonly required?: boolean;
  readonly repeatable?: boolean;
  readonly values?: readonly string[];
}

/** Parameters of an authorization request, for the OpenAPI document. */
export const AUTHORIZATION_PARAMETERS = {
  client_id: { required: true, description: 'Identifier of the client.' },
  redirect_uri: {
    description:
      'Must equal a registered redirect URI. Loopback URIs of public clients may have any port (RFC 8252 7.3). Required without `request_uri`.',
  },
  state: {
    description:
      'Random value, returned unchanged (RFC 6749 10.12). Required without `request_uri`, unless the operator has made it optional for the client.',
  },
  response_type: { values: ['code'], description: 'Default: `code`.' },
  response_mode: {
    values: RESPONSE_MODES,
    description: 'Default: `query`. `form_post` needs an http or https redirect URI.',
  },
  scope: { description: 'Scopes, space-separated. Default: the default scopes.' },
  code_challenge: {
    description:
      'S256 challenge (RFC 7636). Required for public clients, and for clients whose `state` is optional.',
  },
  code_challenge_method: { values: ['S256'], description: 'Required with `code_challenge`.' },
  prompt: {
    description: `Pages to show, space-separated: ${PROMPTS.join(', ')} (OpenID Connect Core 3.1.2.1).`,
  },
  login_hint: { description: 'Prefills the login form.' },
  max_age: {
    description: 'Maximum seconds since the last login; after that, the user must log in again.',
  },
  ui_locales: { description: 'Languages of the pages, space-separated, in order of preference.' },
  nonce: { description: 'Returned in the ID token (OpenID Connect Core 3.1.2.1).' },
  id_token_hint: {
    description: 'ID token of the expected user: another one must log in (OpenID Connect Core 3.1.2.1).',
  },
  claims: {
    description:
      'Individual claims, as JSON (OpenID Connect Core 5.5). Needs a registered scope that grants them.',
  },
  resource: {
    repeatable: true,
    description:
      'URL of an API that the tokens are valid for (RFC 8707). Default: every API. May be repeated.',
  },
  dpop_jkt: {
    description: 'Thumbprint of the key that must sign the DPoP proof of the code exchange (RFC 9449 10).',
  },
  request_uri: {
    description:
      'Reference to a pushed request (RFC 9126). All other parameters except `client_id` are ignored.',
  },
} as const satisfies Readonly<Record<string, AuthorizationParameter>>;

export interface ReturnAddress {
  /** A registered redirect URI of the client, exactly as in the request. */
  readonly redirectUri: string;
  /** Null if the request has none, or an invalid one. */
  readonly state: string | null;
  /** `query` if the request has an invalid one. */
  readonly responseMode: ResponseMode;
}

/** A valid authorization request (RFC 6749 4.1.1, RFC 7636 4.3). */
export interface AuthorizationRequest extends ReturnAddress {
  /** Space-separated, never empty. */
  readonly scope: string;
  /** APIs that the tokens are valid for (RFC 8707), from `checkResource`; null for every API. */
  readonly resources: string | null;
  /** S256 challenge; null when a confidential client sent none. */
  readonly challenge: string | null;
  /** Thumbprint of the key required to redeem the code (`dpop_jkt`, RFC 9449 10). */
  readonly jkt: string | null;
  /** OpenID Connect Core 3.1.2.1. */
  readonly prompt: ReadonlySet<Prompt>;
  /** Only prefills the login form. */
  readonly loginHint: string | null;
  /** Seconds since the user last authenticated (`max_age`, OpenID Connect Core 3.1.2.1). */
  readonly maxAge: number | null;
  /** Space-separated. */
  readonly uiLocales: string | null;
  /** Returned in the ID token; null without the scope `openid`, as the two below. */
  readonly nonce: string | null;
  /** JSON for `parseClaims`. */
  readonly claims: string | null;
  /** Not verified. */
  readonly idTokenHint: string | null;
}

/** An error for the client's redirect URI, which has been validated. */
export class RedirectableError extends OAuthError {
  constructor(
    { code, status, description, detail, cause }: OAuthError,
    readonly returnTo: ReturnAddress,
    readonly client: Pick<OAuthClient, 'clientId' | 'name'>,
  ) {
    super(code, status, description, { detail: { client_id: client.clientId, ...detail }, cause });
    this.name = 'RedirectableError';
  }
}

/**
 * Validates an authorization request, for the authorize endpoint and the PAR endpoint (RFC 9126 2.1, step 3). The order
 * matters:
 *
 * 1. the redirect URI, because no error may be redirected to an unregistered URI;
 * 2. the requirement to push, because correcting any other value would not help a client that must push;
 * 3. the state, so that every later error carries it;
 * 4. the other values, those that affect the meaning of others first.
 *
 * @param options pushRequired: reject the request, because it was not pushed; apis: origins that `resource` may name
 * @throws OAuthError; a RedirectableError from the second check on
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
    readonly pushRequired?: boolean;
    readonly apis?: readonly string[];
  },
): AuthorizationRequest {
  const redirectUri = checkRedirectUri(parameters, client);
  try {
    if (pushRequired) throw mustBePushed();
    const isAuthentication = isAuthenticationRequest(parameters, client, scopes);
    // First: the request object may contain the other parameters.
    if (isAuthentication) checkRequestObject(parameters);
    const state = checkState(parameters, client);
    checkResponseType(parameters, isAuthentication && requestedScope(parameters).length > 0);
    const responseMode = checkResponseMode(parameters, redirectUri);
    const challenge = checkPkce(parameters, client);
    const jkt = checkDpopKey(parameters);
    const claims = readParameter(parameters, 'claims');
    const scope = withClaims(checkScope(parameters, client, scopes), claims, client, scopes);
    const nonce = readParameter(parameters, 'nonce');
    const idTokenHint = readParameter(parameters, 'id_token_hint');
    const resources = checkResource(parameters['resource'], apis);
    const prompt = checkPrompt(parameters);
    const loginHint = readParameter(parameters, 'login_hint') ?? null;
    const maxAge = checkMaxAge(parameters);
    const uiLocales = readParameter(parameters, 'ui_locales') ?? null;
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

/** Returns the error, as one to redirect if the request has a registered redirect URI. */
export function redirectable(error: OAuthError, parameters: Parameters, client: OAuthClient): OAuthError {
  try {
    const redirectUri = checkRedirectUri(parameters, client);
    return new RedirectableError(error, returnAddress(parameters, redirectUri), client);
  } catch {
    return error;
  }
}

/** OpenID Connect Core 3.1.2.1: an authentication request has the scope `openid`, perhaps by default. */
export function isAuthenticationRequest(
  parameters: Parameters,
  client: OAuthClient,
  catalogue: ScopeCatalogue,
): boolean {
  const requested = requestedScope(parameters);
  const scope = requested.length > 0 ? requested : defaultScope(client, catalogue);
  return catalogue.has(OPENID) && scope.includes(OPENID);
}

function requestedScope(parameters: Parameters): string[] {
  return scopeTokens(readParameter(parameters, 'scope') ?? '');
}

/** Without `scope` (RFC 6749 3.3): the catalogue's defaults that the client is registered for, else all of its registered scopes. */
function defaultScope({ scopes }: OAuthClient, catalogue: ScopeCatalogue): readonly string[] {
  const defaults = catalogue.defaults.filter((token) => scopes.includes(token));
  return defaults.length > 0 ? defaults : scopes.filter((token) => catalogue.has(token));
}

const NOT_AUTHENTICATION = { nonce: null, claims: null, idTokenHint: null } as const;

/** OpenID Connect Core 6.1. Ignoring it would process another request than the client's. */
function checkRequestObject(parameters: Parameters): void {
  if (readParameter(parameters, 'request') === undefined) return;
  throw new OAuthError(
    'request_not_supported',
    400,
    "the parameter 'request' is not supported: send the parameters themselves, or push them",
    { detail: { check: 'request_object_unsupported' } },
  );
}

/** RFC 6749 3.1.2.3, RFC 9700 2.1: must be registered. */
function checkRedirectUri(parameters: Parameters, client: OAuthClient): string {
  const detail: ErrorDetail = {
    check: 'redirect_uri_unregistered',
    client_id: client.clientId,
    registered: client.redirectUris,
  };
  const redirectUri = readParameter(parameters, 'redirect_uri');
  if (redirectUri === undefined)
    throw OAuthError.invalidRequest("the parameter 'redirect_uri' is missing", { detail });
  if (!isRegistered(redirectUri, client))
    throw OAuthError.invalidRequest(
      'the redirect_uri must exactly match one that is registered for this application',
      { detail: { ...detail, redirect_uri: redirectUri } },
    );
  return redirectUri;
}

/** RFC 9126 5 and 6: the client or the server may require pushed requests. */
function mustBePushed(): OAuthError {
  return OAuthError.invalidRequest(
    'the authorization request must be pushed (RFC 9126): send its parameters to the pushed authorization request endpoint and only client_id and request_uri here',
    { detail: { check: 'push_required' } },
  );
}

/**
 * Required (docs/specification.md) unless the operator has made `state` optional for the client. Known deviation: RFC 6749 A.5
 * allows printable ASCII only, but any text without control characters is returned unchanged, because some clients send more.
 */
function checkState(parameters: Parameters, { requireState }: OAuthClient): string | null {
  const state = readParameter(parameters, 'state');
  if (state !== undefined) return state;
  if (!requireState) return null;
  throw OAuthError.invalidRequest(
    "the parameter 'state' is missing: it protects your redirect URI against CSRF (RFC 6749 10.12). Send a random value and compare it with the one in the response; openid-client has randomState(), passport-oauth2 has state: true. If your library can only do PKCE, ask the operator to make state optional for your application",
    {
      detail: {
        check: 'state_missing',
        operator: 'client update --state optional, if the application sends PKCE',
      },
    },
  );
}

/** RFC 6749 4.1.2.1: an error carries the state of the request, in its response mode, if each is valid. */
function returnAddress(parameters: Parameters, redirectUri: string): ReturnAddress {
  return {
    redirectUri,
    state: ifValid(() => readParameter(parameters, 'state')) ?? null,
    responseMode: ifValid(() => checkResponseMode(withRequestObject(parameters), redirectUri)) ?? 'query',
  };
}

/** Adds the unverified parameters of a request object, which only decide how its refusal is returned. */
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
 * RFC 6749 4.1.1: "Value MUST be set to code". Known deviation: defaults to code, because the specification has no
 * response_type; required if the request names the scope `openid` (OpenID Connect Core 3.1.2.1).
 */
function checkResponseType(parameters: Parameters, isRequired: boolean): void {
  const responseType = readParameter(parameters, 'response_type');
  if (responseType === 'code') return;
  if (responseType === undefined) {
    if (!isRequired) return;
    throw OAuthError.invalidRequest("the parameter 'response_type' is missing: send response_type=code", {
      detail: { check: 'response_type_missing' },
    });
  }
  throw new OAuthError('unsupported_response_type', 400, 'the only response_type is code', {
    detail: { check: 'response_type_unsupported', response_type: responseType },
  });
}

/**
 * OAuth 2.0 Multiple Response Type Encoding Practices 2.1: query is the default. Ignoring another mode would send the response
 * where the client does not expect it.
 */
function checkResponseMode(parameters: Parameters, redirectUri: string): ResponseMode {
  const requested = readParameter(parameters, 'response_mode') ?? 'query';
  const responseMode = RESPONSE_MODES.find((mode) => mode === requested);
  const detail: ErrorDetail = { check: 'response_mode_unsupported', response_mode: requested };
  if (responseMode === undefined)
    throw OAuthError.invalidRequest(`the values of response_mode are: ${RESPONSE_MODES.join(' ')}`, {
      detail,
    });
  // An app at a private-use scheme (RFC 8252 7.1) cannot receive a POST.
  if (responseMode === 'form_post' && !/^https?:/i.test(redirectUri))
    throw OAuthError.invalidRequest(
      'response_mode=form_post needs an http or https redirect URI: send query',
      {
        detail,
      },
    );
  return responseMode;
}

/**
 * RFC 9700 2.1.1: "Public clients MUST use PKCE"; only with S256, since a plain challenge is the verifier itself. Required also
 * if `state` is optional: PKCE is then the client's only protection against CSRF (2.1).
 */
function checkPkce(parameters: Parameters, { type, requireState }: OAuthClient): string | null {
  const challenge = readParameter(parameters, 'code_challenge');
  const method = readParameter(parameters, 'code_challenge_method');
  const refused = (description: string) =>
    OAuthError.invalidRequest(description, {
      detail: {
        check: 'code_challenge_invalid',
        ...(method !== undefined && { code_challenge_method: method }),
      },
    });
  if (challenge === undefined) {
    if (method !== undefined) throw refused('code_challenge_method requires code_challenge');
    // RFC 7636 4.4.1: "error_description … SHOULD explain the nature of error, e.g., code challenge required."
    if (type === 'public')
      throw refused('code challenge required: send code_challenge and code_challenge_method=S256');
    if (!requireState)
      throw refused(
        'code challenge required, because state is optional for this application: send code_challenge and code_challenge_method=S256',
      );
    return null;
  }
  // RFC 7636 4.3: code_challenge_method "defaults to plain if not present in the request".
  if (method === undefined)
    throw refused('code_challenge_method is missing, which means plain: send code_challenge_method=S256');
  // RFC 7636 4.4.1: an unsupported transformation is an invalid_request.
  if (method !== 'S256')
    throw refused('transform algorithm not supported: the only code_challenge_method is S256');
  if (!isChallenge(challenge))
    throw refused('the code_challenge is not an S256 challenge: base64url of 32 bytes without padding');
  return challenge;
}

/** SHA-256 in base64url (RFC 7638 3); the last character carries four bits. */
const THUMBPRINT = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

/**
 * RFC 9449 10: "When a token request is received, the authorization server computes the JWK Thumbprint of the proof of
 * possession public key in the DPoP proof and verifies that it matches the dpop_jkt parameter value in the authorization
 * request." Rejects a value that can never match before the consent page.
 */
function checkDpopKey(parameters: Parameters): string | null {
  const jkt = readParameter(parameters, 'dpop_jkt');
  if (jkt === undefined) return null;
  if (THUMBPRINT.test(jkt)) return jkt;
  throw OAuthError.invalidRequest(
    "the parameter 'dpop_jkt' is not a SHA-256 JWK thumbprint: base64url of 32 bytes without padding",
    { detail: { check: 'dpop_jkt_invalid' } },
  );
}

/**
 * RFC 6749 3.3: "If the client omits the scope parameter […] the authorization server MUST either process the request using a
 * pre-defined default value or fail". A scope that is no longer declared cannot be requested.
 * @returns scope tokens, space-separated and unique, in the order of the request
 */
function checkScope(parameters: Parameters, client: OAuthClient, catalogue: ScopeCatalogue): string {
  const { scopes: registered } = client;
  const requested = requestedScope(parameters);
  const detail: ErrorDetail = { check: 'scope_unregistered', registered, requested };
  const available = registered.filter((token) => catalogue.has(token));
  if (available.length === 0)
    throw OAuthError.invalidScope('all scopes registered for this application have been removed', {
      detail,
    });
  if (requested.length === 0) return defaultScope(client, catalogue).join(' ');
  if (!requested.every((token) => catalogue.has(token)))
    throw OAuthError.invalidScope(`the scopes are: ${catalogue.names.join(' ')}`, { detail });
  if (!requested.every((token) => available.includes(token)))
    throw OAuthError.invalidScope(`this application may request: ${available.join(' ')}`, { detail });
  return requested.join(' ');
}

/**
 * Adds the registered scopes that grant the claims of an authentication request: the user then sees on the consent page what the
 * client gets (OpenID Connect Core 5.5).
 */
function withClaims(
  scope: string,
  claims: string | undefined,
  { scopes: registered }: OAuthClient,
  catalogue: ScopeCatalogue,
): string {
  const requested = scopeTokens(scope);
  if (claims === undefined || !requested.includes(OPENID)) return scope;
  const granting = parseClaims(claims).scopes.filter((one) => registered.includes(one) && catalogue.has(one));
  return [...new Set([...requested, ...granting])].join(' ');
}

/**
 * OpenID Connect Core 3.1.2.1: a "space-delimited, case-sensitive list"; "If this parameter contains none with any
 * other value, an error is returned".
 */
function checkPrompt(parameters: Parameters): ReadonlySet<Prompt> {
  const requested = (readParameter(parameters, 'prompt') ?? '').split(' ').filter((value) => value !== '');
  const prompts = new Set(PROMPTS.filter((prompt) => requested.includes(prompt)));
  const detail: ErrorDetail = { check: 'prompt_invalid', prompt: requested };
  if (requested.some((value) => !(PROMPTS as readonly string[]).includes(value)))
    throw OAuthError.invalidRequest(`the values of prompt are: ${PROMPTS.join(' ')}`, { detail });
  if (prompts.has('none') && prompts.size > 1)
    throw OAuthError.invalidRequest('prompt=none cannot be combined with other values', { detail });
  return prompts;
}

/**
 * OpenID Connect Core 3.1.2.1: "the allowable elapsed time in seconds since the last time the End-User was actively
 * authenticated".
 */
function checkMaxAge(parameters: Parameters): number | null {
  const maxAge = readParameter(parameters, 'max_age');
  if (maxAge === undefined) return null;
  if (/^\d{1,9}$/.test(maxAge)) return Number(maxAge);
  throw OAuthError.invalidRequest("the parameter 'max_age' must be a whole number of seconds", {
    detail: { check: 'max_age_invalid' },
  });
}
