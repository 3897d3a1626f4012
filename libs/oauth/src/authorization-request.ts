import type { OAuthClient } from './client.js';
import { type ErrorDetail, OAuthError } from './oauth-error.js';
import { type Parameters, readParameter } from './parameters.js';
import { isChallenge } from './pkce.js';
import { isRegistered } from './redirect-uri.js';
import { checkResource } from './resource.js';
import { type ScopeCatalogue, scopeTokens } from './scope.js';

/** Values of `prompt` (OpenID Connect Core 3.1.2.1), in the order in which the metadata lists them. */
export const PROMPTS = ['none', 'login', 'consent', 'select_account'] as const;

type Prompt = (typeof PROMPTS)[number];

export interface AuthorizationParameter {
  readonly description: string;
  readonly required?: boolean;
  readonly repeatable?: boolean;
  readonly values?: readonly string[];
}

/** Every parameter of an authorization request, for the description of the API. */
export const AUTHORIZATION_PARAMETERS = {
  client_id: { required: true, description: 'The client.' },
  redirect_uri: {
    description:
      'A registered one, character by character. Loopback URIs of public clients may have any port (RFC 8252 7.3). Required without `request_uri`.',
  },
  state: {
    description:
      'Random value, returned unchanged (RFC 6749 10.12). Required without `request_uri`, except of clients for which the operator has made it optional.',
  },
  response_type: { values: ['code'], description: '`code` when absent.' },
  response_mode: { values: ['query'], description: '`query` when absent.' },
  scope: { description: 'Scopes separated by spaces; the default ones when absent.' },
  code_challenge: {
    description:
      'S256 challenge (RFC 7636). Required of public clients, and of those whose `state` is optional.',
  },
  code_challenge_method: { values: ['S256'], description: 'Required with `code_challenge`.' },
  prompt: {
    description: `What to ask the user, separated by spaces: ${PROMPTS.join(', ')} (OpenID Connect Core 3.1.2.1).`,
  },
  login_hint: { description: 'Fills in the login form.' },
  max_age: {
    description: 'Seconds since the user last logged in; if it is longer ago, the user logs in again.',
  },
  ui_locales: { description: 'Languages of the pages, separated by spaces, preferred first.' },
  resource: {
    repeatable: true,
    description: 'URL of an API that the tokens are for (RFC 8707); every API when absent. May be repeated.',
  },
  dpop_jkt: { description: 'Thumbprint of the key that the exchange must prove (RFC 9449 10).' },
  request_uri: { description: 'A pushed request (RFC 9126); with it only `client_id` counts.' },
} as const satisfies Readonly<Record<string, AuthorizationParameter>>;

/** Where the response goes, and what must come back with it. */
export interface ReturnAddress {
  /** A registered redirect URI of the client, as the request wrote it. */
  readonly redirectUri: string;
  /** Null when the request had none, or none that could be returned. */
  readonly state: string | null;
}

/** An authorization request (RFC 6749 4.1.1, RFC 7636 4.3) that passed every check. */
export interface AuthorizationRequest extends ReturnAddress {
  /** Space-separated, never empty. */
  readonly scope: string;
  /** The APIs that the tokens are for (RFC 8707), as `checkResource` returns them; null for every API. */
  readonly resources: string | null;
  /** S256 challenge; null when a confidential client sent none. */
  readonly challenge: string | null;
  /** Thumbprint of the key that the code must be redeemed with (`dpop_jkt`, RFC 9449 10); null when none is named. */
  readonly jkt: string | null;
  /** What to ask the user although it may be known, or that nothing may be asked (OpenID Connect Core 3.1.2.1). */
  readonly prompt: ReadonlySet<Prompt>;
  /** The user that the client expects; only ever shown in the login form. */
  readonly loginHint: string | null;
  /** Seconds since the user last authenticated (`max_age`, OpenID Connect Core 3.1.2.1); null for any time. */
  readonly maxAge: number | null;
  /** Languages that the client asks for, space-separated. */
  readonly uiLocales: string | null;
}

/** An error that goes to the client by redirect, because the redirect URI is known to be the client's. */
export class RedirectableError extends OAuthError {
  constructor(
    { code, status, description, detail, cause }: OAuthError,
    readonly returnTo: ReturnAddress,
    clientId: string,
  ) {
    super(code, status, description, { detail: { client_id: clientId, ...detail }, cause });
    this.name = 'RedirectableError';
  }
}

/**
 * Validates an authorization request. The authorize endpoint and the PAR endpoint share these checks (RFC 9126 2.1,
 * step 3). Their order matters:
 *
 * 1. the redirect URI, because no error may be redirected before it is known to be the client's;
 * 2. whether the request had to be pushed, because a client that corrects any other value would still end here;
 * 3. the state, so that every later error carries it;
 * 4. the values, the ones that decide what the others mean first.
 *
 * @param options scopes: those that exist; pushRequired: refuse the request, because it should have been pushed; apis:
 * origins that the `resource` parameter may name
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
    const state = checkState(parameters, client);
    checkResponseType(parameters);
    checkResponseMode(parameters);
    const challenge = checkPkce(parameters, client);
    const jkt = checkDpopKey(parameters);
    const scope = checkScope(parameters, client, scopes);
    const resources = checkResource(parameters['resource'], apis);
    const prompt = checkPrompt(parameters);
    const loginHint = readParameter(parameters, 'login_hint') ?? null;
    const maxAge = checkMaxAge(parameters);
    const uiLocales = readParameter(parameters, 'ui_locales') ?? null;
    return { redirectUri, state, scope, resources, challenge, jkt, prompt, loginHint, maxAge, uiLocales };
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    throw new RedirectableError(error, { redirectUri, state: stateToReturn(parameters) }, client.clientId);
  }
}

/** RFC 6749 3.1.2.3, RFC 9700 2.1: one of the registered redirect URIs. */
function checkRedirectUri(parameters: Parameters, client: OAuthClient): string {
  const detail: ErrorDetail = {
    check: 'redirect_uri',
    client_id: client.clientId,
    registered: client.redirectUris,
  };
  const redirectUri = readParameter(parameters, 'redirect_uri');
  if (redirectUri === undefined)
    throw OAuthError.invalidRequest("the parameter 'redirect_uri' is missing", { detail });
  if (!isRegistered(redirectUri, client))
    throw OAuthError.invalidRequest(
      'the redirect_uri must be one that is registered for this application, character by character',
      { detail: { ...detail, redirect_uri: redirectUri } },
    );
  return redirectUri;
}

/** RFC 9126 5 and 6: a client or server that requires pushed requests gets any other refused. */
function mustBePushed(): OAuthError {
  return OAuthError.invalidRequest(
    'the authorization request must be pushed (RFC 9126): send its parameters to the pushed authorization request endpoint and only client_id and request_uri here',
    { detail: { check: 'pushed' } },
  );
}

/**
 * `state` is required here (docs/specification.md) unless the operator has made it optional for the client. RFC 6749 A.5 makes it
 * of printable ASCII. Known deviation: any text without control characters is returned as it came, because some clients put more
 * into it.
 */
function checkState(parameters: Parameters, { requireState }: OAuthClient): string | null {
  const state = readParameter(parameters, 'state');
  if (state !== undefined) return state;
  if (!requireState) return null;
  throw OAuthError.invalidRequest(
    "the parameter 'state' is missing: it protects your redirect URI against CSRF (RFC 6749 10.12). Send a random value and compare it with the one in the response; openid-client has randomState(), passport-oauth2 has state: true. If your library can only do PKCE, ask the operator to make state optional for your application",
    { detail: { check: 'state', operator: 'client update --state optional, if the application sends PKCE' } },
  );
}

/** RFC 6749 4.1.2.1: an error carries the state of the request, if it is a valid one. */
function stateToReturn(parameters: Parameters): string | null {
  try {
    return readParameter(parameters, 'state') ?? null;
  } catch {
    return null;
  }
}

/** RFC 6749 4.1.1: "Value MUST be set to code". Known deviation: absent means code, because the specification has no response_type. */
function checkResponseType(parameters: Parameters): void {
  const responseType = readParameter(parameters, 'response_type');
  if (responseType === undefined || responseType === 'code') return;
  throw new OAuthError('unsupported_response_type', 400, 'the only response_type is code', {
    detail: { check: 'response_type', response_type: responseType },
  });
}

/**
 * OAuth 2.0 Multiple Response Type Encoding Practices 2.1: query is the default for the response type code. Ignoring
 * another mode would send the response where the client does not look for it.
 */
function checkResponseMode(parameters: Parameters): void {
  const responseMode = readParameter(parameters, 'response_mode');
  if (responseMode === undefined || responseMode === 'query') return;
  throw OAuthError.invalidRequest('the only response_mode is query: send that or none', {
    detail: { check: 'response_mode', response_mode: responseMode },
  });
}

/**
 * RFC 9700 2.1.1: "Public clients MUST use PKCE"; only with S256, since a plain challenge is the verifier itself. A client for
 * which `state` is optional must use it too: PKCE is then its only protection against CSRF (2.1).
 *
 * @returns the S256 challenge; null when a confidential client sent none
 */
function checkPkce(parameters: Parameters, { type, requireState }: OAuthClient): string | null {
  const challenge = readParameter(parameters, 'code_challenge');
  const method = readParameter(parameters, 'code_challenge_method');
  const refused = (description: string) =>
    OAuthError.invalidRequest(description, {
      detail: { check: 'pkce', ...(method !== undefined && { code_challenge_method: method }) },
    });
  if (challenge === undefined) {
    if (method !== undefined) throw refused('code_challenge_method came without code_challenge');
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
  // RFC 7636 4.4.1: the server that does not support a transformation answers invalid_request.
  if (method !== 'S256')
    throw refused('transform algorithm not supported: the only code_challenge_method is S256');
  if (!isChallenge(challenge))
    throw refused('the code_challenge is not an S256 challenge: base64url of 32 bytes without padding');
  return challenge;
}

/** SHA-256 in base64url (RFC 7638 3): 43 characters, of which the last carries four bits. */
const THUMBPRINT = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

/**
 * RFC 9449 10: "When a token request is received, the authorization server computes the JWK Thumbprint of the proof
 * of possession public key in the DPoP proof and verifies that it matches the dpop_jkt parameter value in the
 * authorization request." A value that can never match is refused here, before the user is asked.
 *
 * @returns the thumbprint; null when the request names none
 */
function checkDpopKey(parameters: Parameters): string | null {
  const jkt = readParameter(parameters, 'dpop_jkt');
  if (jkt === undefined) return null;
  if (THUMBPRINT.test(jkt)) return jkt;
  throw OAuthError.invalidRequest(
    "the parameter 'dpop_jkt' is not a SHA-256 JWK thumbprint: base64url of 32 bytes without padding",
    { detail: { check: 'dpop_jkt' } },
  );
}

/**
 * RFC 6749 3.3: "If the client omits the scope parameter […] the authorization server MUST either process the request
 * using a pre-defined default value or fail". The default is what the catalogue says, or everything that the client is
 * registered for where nothing of that is among it. A scope that is no longer declared cannot be requested.
 *
 * @returns space-separated scope tokens, each once, in the order of the request
 */
function checkScope(
  parameters: Parameters,
  { scopes: registered }: OAuthClient,
  catalogue: ScopeCatalogue,
): string {
  const requested = scopeTokens(readParameter(parameters, 'scope') ?? '');
  const detail: ErrorDetail = { check: 'scope', registered, requested };
  const available = registered.filter((token) => catalogue.has(token));
  if (available.length === 0)
    throw OAuthError.invalidScope('no scope that this application is registered for exists any more', {
      detail,
    });
  if (requested.length === 0) {
    const defaults = catalogue.defaults.filter((token) => available.includes(token));
    return (defaults.length > 0 ? defaults : available).join(' ');
  }
  if (!requested.every((token) => catalogue.has(token)))
    throw OAuthError.invalidScope(`the scopes are: ${catalogue.names.join(' ')}`, { detail });
  if (!requested.every((token) => available.includes(token)))
    throw OAuthError.invalidScope(`this application may ask for: ${available.join(' ')}`, { detail });
  return requested.join(' ');
}

/**
 * OpenID Connect Core 3.1.2.1: a "space-delimited, case-sensitive list"; "If this parameter contains none with any
 * other value, an error is returned".
 */
function checkPrompt(parameters: Parameters): ReadonlySet<Prompt> {
  const requested = (readParameter(parameters, 'prompt') ?? '').split(' ').filter((value) => value !== '');
  const prompts = new Set(PROMPTS.filter((prompt) => requested.includes(prompt)));
  const detail: ErrorDetail = { check: 'prompt', prompt: requested };
  if (requested.some((value) => !(PROMPTS as readonly string[]).includes(value)))
    throw OAuthError.invalidRequest(`the values of prompt are: ${PROMPTS.join(' ')}`, { detail });
  if (prompts.has('none') && prompts.size > 1)
    throw OAuthError.invalidRequest('prompt=none allows no other prompt beside it', { detail });
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
    detail: { check: 'max_age' },
  });
}
