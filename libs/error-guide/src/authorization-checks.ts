import type { CheckOf, AuthorizationReasons } from '#oauth/reasons.js';
import type { Descriptions } from './descriptions.js';
import type { CheckEntries } from './guide-entry.js';

/** Authorization requests, sent by the browser or pushed (RFC 6749 4.1.2.1, RFC 9126 2.3). */
export const AUTHORIZATION_CHECKS = {
  client_id_unregistered: {
    title: 'The application is unknown',
    meaning: 'The `client_id` of the authorization request is misspelt, or belongs to another installation.',
    application: 'Compare the `client_id` with your registration.',
    operator: [
      'If it is an https URL, it is the address of a metadata document: admit the application with `client create --metadata-url`, or every application of its host with `CLIENT_METADATA_HOSTS`.',
      'Otherwise compare it with the registered applications.',
    ],
    commands: ['client list'],
  },
  client_document_refused: {
    title: 'The metadata document of the application is refused',
    meaning:
      'The `client_id` is the URL of a document that describes the application. The document breaks a rule, such as one for redirect URIs, or is not at its own `client_id`.',
    operator:
      'The value `reason` of the log line names the rule that it breaks. Tell the publisher of the document.',
    application: 'Correct the document. The next request fetches it again.',
  },
  client_document_unavailable: {
    title: 'The metadata document of the application cannot be fetched',
    meaning:
      'The `client_id` is the URL of a document that describes the application. Its host did not respond in time, or not with the document.',
    application: 'Open the URL. It must respond with status 200 and JSON, without a redirect, to everyone.',
    operator:
      'The value `reason` of the log line says what failed. For a host in a private network see `OUTSIDE_FETCH_ALLOW`.',
  },
  client_document_limit_exceeded: {
    title: 'Too many new applications of one host',
    meaning:
      'Applications of a host in `CLIENT_METADATA_HOSTS` are admitted at their first use, but only some in a minute.',
    user: 'Try again in a minute.',
    operator: 'If the host lets strangers publish documents, remove it from `CLIENT_METADATA_HOSTS`.',
  },
  redirect_uri_unregistered: {
    title: 'The redirect_uri is not registered',
    meaning:
      'It is missing, or is not exactly a registered redirect URI. The comparison is exact, because a code must not reach another address (RFC 9700 2.1).',
    application: [
      'Compare scheme, host, port, path, trailing slash and query with the registered redirect URIs.',
      'For changing ports on your own machine register `http://127.0.0.1/…` with a public client.',
    ],
    operator: 'If the address is the application’s, register it.',
    commands: ['client update {client_id} --add-redirect-uri {redirect_uri}'],
  },
  push_required: {
    title: 'The authorization request must be pushed',
    meaning: 'The application, or this service, requires pushed authorization requests (RFC 9126).',
    application:
      'Send the parameters to the `par` endpoint, and the browser with `client_id` and `request_uri` only.',
    operator: 'If the application cannot push requests, remove the requirement.',
    commands: ['client update {client_id} --require-par false'],
  },
  state_missing: {
    title: 'The state is missing',
    meaning:
      'It protects the redirect URI against forged responses (RFC 6749 10.12), and this service requires it.',
    application:
      'Send a random value for each request, and compare it with the `state` of the response. Most libraries have a setting for this.',
    operator: 'If the application cannot send one, and sends a PKCE challenge with `S256`, make it optional.',
    commands: ['client update {client_id} --state optional'],
  },
  response_type_missing: {
    title: 'The response_type is missing',
    meaning: 'A request with the scope `openid` must have it (OpenID Connect Core 3.1.2.1).',
    application: 'Send `response_type=code`.',
  },
  response_type_unsupported: {
    title: 'The response_type is not code',
    meaning:
      'This service supports only the authorization code flow. The implicit flow is obsolete (RFC 9700 2.1.2).',
    application: 'Send `response_type=code`.',
  },
  response_mode_unsupported: {
    title: 'The response_mode is not available',
    meaning:
      'The response comes in the query of the redirect URI (`query`), or in a form that the browser posts to it (`form_post`). A redirect URI with a private-use scheme cannot receive a form.',
    application:
      'Send `response_mode=query` or leave it out, or send `form_post` with an http or https redirect URI.',
  },
  code_challenge_invalid: {
    title: 'The code challenge is missing or not S256',
    meaning:
      'Public clients, and applications whose `state` is optional, must use PKCE (RFC 9700 2.1, 2.1.1). The only method is `S256`: base64url of the SHA-256 of the verifier, without padding.',
    application:
      'Send `code_challenge` and `code_challenge_method=S256`. In most libraries that is one setting.',
    operator: [
      'If a public client runs on a server, which can keep a secret, register it as a confidential one.',
      'If `state` is optional for the application although it sends one, require it.',
    ],
    commands: ['client update {client_id} --state required'],
  },
  dpop_jkt_invalid: {
    title: 'The dpop_jkt is not the thumbprint of the key',
    meaning:
      'It is the SHA-256 JWK thumbprint (RFC 7638) of the key that the exchange will prove, in base64url.',
    application: 'Compute it from the public key of your proofs, or leave it out.',
  },
  scope_unregistered: {
    title: 'The application may request none of these scopes',
    meaning:
      'An application gets the scopes that it is registered for. Other scopes are ignored, but a request for nothing else is an error. The description lists both.',
    application:
      'Request at least one scope of the list. `offline_access` does not exist: every application gets a refresh token.',
    operator: 'If the application may request them, register them.',
    commands: ['client update {client_id} --add-scope {scope}'],
  },
  resource_unknown: {
    title: 'The resource is not an API of this service',
    meaning:
      'The parameter is an absolute URI without a fragment, at one of the APIs that the description lists (RFC 8707 2).',
    application: 'Send the address of the API, or leave the parameter out.',
    platform: 'If the API is missing from the list, add it to `API_URL` or `OTHER_API_URLS`.',
  },
  prompt_invalid: {
    title: 'The prompt is invalid',
    meaning: 'The values are `none`, `login`, `consent` and `select_account`; `none` stands alone.',
    application: 'Send values of the list, separated by spaces, or leave the parameter out.',
  },
  max_age_invalid: {
    title: 'The max_age is not a number',
    meaning: 'It is a whole number of seconds since the user last logged in.',
    application: 'Send digits only, or leave the parameter out.',
  },
  claims_invalid: {
    title: 'The claims parameter is invalid',
    meaning: 'It is a JSON object with the members `userinfo` and `id_token` (OpenID Connect Core 5.5).',
    application: 'Send such an object, or request the scopes `profile` and `email`.',
  },
  id_token_hint_invalid: {
    title: 'The id_token_hint is not an ID token for this application',
    meaning:
      'It must be an ID token that this service issued to the same application; it may have expired. Its signing key may have been removed since. The value `wrong` is the part that does not match.',
    application: 'Send the latest ID token of the user, or leave the parameter out.',
  },
  request_object_unsupported: {
    title: 'Request objects are not supported',
    meaning: 'This service accepts plain parameters and pushed requests (RFC 9126).',
    application: 'Leave `request` out, and send its contents as parameters.',
    publishedAs: 'request_not_supported',
  },
  request_uri_unsupported: {
    title: 'The request_uri is not from a pushed request',
    meaning: 'This service does not fetch requests from other addresses (OpenID Connect Core 6.2).',
    application: 'Push the request (RFC 9126), and send the `request_uri` of the response.',
    publishedAs: 'request_uri_not_supported',
  },
  request_uri_invalid: {
    title: 'The pushed request has expired or was already used',
    meaning:
      'A pushed authorization request is valid for a short time, for one response, and for the application that pushed it. A push itself has no `request_uri`.',
    user: 'Start again at the application.',
    application: 'Push a request for each authorization, just before you redirect the user.',
  },
  push_limit_exceeded: {
    title: 'Too many pushed requests',
    meaning:
      'The application, or one address for a public client, has more unanswered requests than the service stores.',
    application: 'Wait as long as `Retry-After` says. Push when a user starts, not in advance.',
    platform: 'If every user has the same address, `TRUSTED_PROXIES` does not name the proxy.',
  },
  decision_missing: {
    title: 'The consent form came without a decision',
    meaning: 'The consent form was submitted without Allow or Cancel.',
    user: 'Open the page again and choose one of the buttons.',
  },
  consent_denied: {
    title: 'The user cancelled',
    meaning: 'The user clicked Cancel on the consent page.',
    application: 'Tell the user that nothing is connected, and offer to start again.',
    publishedAs: 'access_denied',
  },
  login_impossible: {
    title: 'No user is logged in, and no login page is allowed',
    meaning: 'The request has `prompt=none`, and the browser has no session (OpenID Connect Core 3.1.2.6).',
    application: 'Send the user through the authorization again without `prompt=none`.',
    publishedAs: 'login_required',
  },
  login_too_old: {
    title: 'The login is too old, and no login page is allowed',
    meaning:
      'The request has `prompt=none`, and the user logged in longer ago than `max_age` allows (OpenID Connect Core 3.1.2.1).',
    application:
      'Send the user through the authorization again without `prompt=none`, or with a longer `max_age`.',
    publishedAs: 'login_required',
  },
  other_user_logged_in: {
    title: 'Another user is logged in',
    meaning:
      'The `id_token_hint` or the `claims` of the request name another user (OpenID Connect Core 3.1.2.2).',
    application: 'Send the user through the authorization again without the hint, and compare `sub`.',
    publishedAs: 'login_required',
  },
  consent_impossible: {
    title: 'The user must give consent, and no consent page is allowed',
    meaning: 'The request has `prompt=none`, and needs the user’s consent (OpenID Connect Core 3.1.2.6).',
    application: 'Send the user through the authorization again without `prompt=none`.',
    publishedAs: 'consent_required',
  },
} as const satisfies CheckEntries<CheckOf<AuthorizationReasons>>;

export const AUTHORIZATION_DESCRIPTIONS: Descriptions<AuthorizationReasons> = {
  client_id_unregistered: 'no application is registered under this client_id',
  client_document_refused: 'the metadata document at this client_id is refused',
  client_document_unavailable: 'the metadata document at this client_id cannot be fetched',
  client_document_limit_exceeded: ({ host }) => `too many new applications of ${host}`,
  redirect_uri_unregistered:
    'the redirect_uri must exactly match one that is registered for this application',
  'redirect_uri_unregistered.missing': "the parameter 'redirect_uri' is missing",
  push_required:
    'the authorization request must be pushed (RFC 9126): send its parameters to the pushed authorization request endpoint and only client_id and request_uri here',
  state_missing:
    "the parameter 'state' is missing: it protects your redirect URI against CSRF (RFC 6749 10.12). Send a random value and compare it with the one in the response; openid-client has randomState(), passport-oauth2 has state: true. If your library can only do PKCE, ask the operator to make state optional for your application",
  response_type_missing: "the parameter 'response_type' is missing: send response_type=code",
  response_type_unsupported: 'the only response_type is code',
  response_mode_unsupported: ({ modes }) => `the values of response_mode are: ${modes.join(' ')}`,
  'response_mode_unsupported.form_post':
    'response_mode=form_post needs an http or https redirect URI: send query',
  'code_challenge_invalid.missing': 'code_challenge_method requires code_challenge',
  // RFC 7636 4.4.1: "error_description … SHOULD explain the nature of error, e.g., code challenge required."
  'code_challenge_invalid.required':
    'code challenge required: send code_challenge and code_challenge_method=S256',
  'code_challenge_invalid.required_without_state':
    'code challenge required, because state is optional for this application: send code_challenge and code_challenge_method=S256',
  'code_challenge_invalid.plain':
    'code_challenge_method is missing, which means plain: send code_challenge_method=S256',
  'code_challenge_invalid.method':
    'transform algorithm not supported: the only code_challenge_method is S256',
  'code_challenge_invalid.format':
    'the code_challenge is not an S256 challenge: base64url of 32 bytes without padding',
  dpop_jkt_invalid:
    "the parameter 'dpop_jkt' is not a SHA-256 JWK thumbprint: base64url of 32 bytes without padding",
  'dpop_jkt_invalid.other_key': "the parameter 'dpop_jkt' is not the thumbprint of the proof's key",
  scope_unregistered: ({ requested, available }) =>
    `this client may not request: ${requested.join(' ')}; it may request: ${available.join(' ')}`,
  'scope_unregistered.none_left': 'all scopes registered for this application have been removed',
  resource_unknown: ({ apis }) =>
    `the parameter 'resource' must be an absolute URI without a fragment, ${apis.length > 0 ? `below one of: ${apis.join(' ')}` : 'but no API is configured: leave it out'}`,
  'resource_unknown.too_many':
    "the parameter 'resource' names too many APIs for one token: leave it out, or name fewer",
  prompt_invalid: ({ prompts }) => `the values of prompt are: ${prompts.join(' ')}`,
  'prompt_invalid.none': 'prompt=none cannot be combined with other values',
  max_age_invalid: "the parameter 'max_age' must be a whole number of seconds",
  claims_invalid:
    "the parameter 'claims' must be a JSON object with the members userinfo and id_token (OpenID Connect Core 5.5)",
  id_token_hint_invalid:
    "the parameter 'id_token_hint' is not an ID token that this service issued to this application",
  request_object_unsupported:
    "the parameter 'request' is not supported: send the parameters themselves, or push them",
  request_uri_unsupported:
    'this request_uri is not supported: push the request, and send the request_uri of the response',
  'request_uri_invalid.unknown': 'the request_uri was not issued by this service',
  'request_uri_invalid.answered':
    'this request has already been answered; to connect again, start again at the application',
  'request_uri_invalid.expired':
    'this request has expired or does not belong to this application; start again at the application',
  'request_uri_invalid.pushed': "the parameter 'request_uri' must not be pushed",
  push_limit_exceeded: ({ counter, retryAfter }) =>
    `too many pushed requests ${counter === 'client' ? 'for this application' : 'from this address'}; retry in ${retryAfter} s`,
  decision_missing: "the parameter 'decision' must be allow or deny",
  consent_denied: 'the user denied the request',
  login_impossible: 'no user is logged in, and prompt=none does not allow a login page',
  login_too_old: 'the login is older than max_age allows, and prompt=none does not allow a login page',
  other_user_logged_in: 'another user is logged in than the one that the request names',
  consent_impossible: 'the user must give consent, and prompt=none does not allow a consent page',
};
