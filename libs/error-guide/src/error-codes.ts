import type { OAuthErrorCode } from '#oauth/reasons.js';
import type { ErrorCodeEntry } from './guide-entry.js';

const REPORT = 'Report the `error_reference` to the operator of this service.';

/** Meaning of each `error` code, regardless of the failed check. */
export const ERROR_CODES = {
  invalid_request: {
    meaning:
      'A parameter is missing, repeated, malformed or too long: the description says what is wrong (RFC 6749 4.1.2.1 and 5.2).',
    example: "the parameter 'client_id' is missing",
    application: 'Correct the request; the same one will be refused again.',
  },
  invalid_client: {
    meaning: 'The application is unknown or disabled, or its secret is missing or wrong (RFC 6749 5.2).',
    example: 'unknown client, or a wrong client_secret',
    application: 'Check `client_id`, `client_secret` and the authentication method of your library.',
  },
  invalid_grant: {
    meaning:
      'The code or token is invalid, expired, revoked, already used, or was issued to another application or key (RFC 6749 5.2).',
    example: 'the code has expired; ask the user to authorize again',
    application: 'Do not repeat the request. Send the user through the authorization again.',
  },
  unauthorized_client: {
    meaning: 'The application may not do this (RFC 6749 5.2).',
    example: 'the operator has disabled this application',
    operator: 'See what the application may do.',
    commands: ['client show {client_id}'],
  },
  unsupported_grant_type: {
    meaning:
      'The `grant_type` is not `authorization_code`, `refresh_token` or, for devices, `urn:ietf:params:oauth:grant-type:device_code`. There is no password grant, and `client_credentials` is only for API clients of the console and for event streams.',
    example:
      "the parameter 'grant_type' must be authorization_code, refresh_token or urn:ietf:params:oauth:grant-type:device_code",
    application: 'Send one of these: `refreshToken` takes `refresh_token` only.',
  },
  unsupported_response_type: {
    meaning: 'The `response_type` is not `code` (RFC 6749 4.1.2.1).',
    example: 'the only response_type is code',
    application: 'Send `response_type=code`.',
  },
  invalid_scope: {
    meaning:
      'A scope is malformed, does not exist, is not registered for the application, or was not granted (RFC 6749 3.3).',
    example: "the parameter 'scope' asks for more than the user granted",
    application: 'Request the scopes that the description lists.',
  },
  invalid_target: {
    meaning:
      'The `resource` is not an API of this service, or not one of the authorization request (RFC 8707 2).',
    example: "the parameter 'resource' names an API that the authorization request did not name",
    application: 'Name an API that the description lists, or leave `resource` out.',
  },
  access_denied: {
    meaning: 'The user clicked Cancel, or the login was refused (RFC 6749 4.1.2.1, RFC 8628 3.5).',
    example: 'the user denied the request',
    application: 'Tell the user that nothing is connected, and offer to start again.',
  },
  authorization_pending: {
    meaning: 'The user of the device has not decided yet: the normal answer to a poll (RFC 8628 3.5).',
    example: 'the user has not decided yet: poll again after the interval',
    application: 'Poll again after `interval` seconds, until `expires_in` has passed.',
  },
  slow_down: {
    meaning:
      'The device polled before the interval had passed, which is now 5 seconds longer (RFC 8628 3.5).',
    example: 'the device polls too often: from now on, wait 5 seconds longer between two polls',
    application: 'Add 5 seconds to the interval, for this and all later polls.',
  },
  expired_token: {
    meaning:
      'The user has not decided within 15 minutes: the codes of the device have expired (RFC 8628 3.5).',
    example: 'the device code has expired; ask the user to authorize again',
    application: 'Offer to start again, and request new codes then.',
  },
  login_required: {
    meaning:
      'No user is logged in, and `prompt=none` does not allow a login page (OpenID Connect Core 3.1.2.6).',
    example: 'no user is logged in, and prompt=none does not allow a login page',
    application: 'Send the user through the authorization again without `prompt=none`.',
  },
  consent_required: {
    meaning:
      'The user must give consent, and `prompt=none` does not allow a consent page (OpenID Connect Core 3.1.2.6).',
    example: 'the user must give consent, and prompt=none does not allow a consent page',
    application: 'Send the user through the authorization again without `prompt=none`.',
  },
  request_not_supported: {
    meaning: 'The parameter `request` is not supported (OpenID Connect Core 6.1).',
    example: "the parameter 'request' is not supported: send the parameters themselves, or push them",
    application: 'Send the parameters themselves, or push them (RFC 9126).',
  },
  request_uri_not_supported: {
    meaning: 'The `request_uri` is not from a pushed request (OpenID Connect Core 6.2).',
    example: 'this request_uri is not supported: push the request, and send the request_uri of the response',
    application: 'Push the request (RFC 9126), and send the `request_uri` of the response.',
  },
  invalid_dpop_proof: {
    meaning: 'The DPoP proof is not valid for this request, or was used before (RFC 9449 5 and 7.1).',
    example: 'the proof was used before: sign a new one',
    application: 'Make a new proof for each request with a library.',
  },
  use_dpop_nonce: {
    meaning: 'The proof needs the nonce in the `DPoP-Nonce` header of the response (RFC 9449 8).',
    example: 'the proof needs the nonce of the DPoP-Nonce header: repeat the request with it',
    application: 'Repeat the request with this nonce in the proof.',
  },
  invalid_token: {
    meaning: 'An API refuses the access token (RFC 6750 3.1).',
    example: 'the access token is not valid',
    application: 'Refresh it once and repeat the request.',
  },
  insufficient_scope: {
    meaning: 'The access token lacks a scope that the API needs (RFC 6750 3.1).',
    example: 'the access token needs the scope profile:read',
    application: 'Send the user through the authorization again with the scope of `WWW-Authenticate`.',
  },
  temporarily_unavailable: {
    meaning:
      'The service is overloaded, or one of its servers did not answer. Nothing is wrong with the request.',
    example: 'the service is temporarily unavailable: repeat the request in a moment',
    application:
      'Repeat the request after `Retry-After` seconds. A token or code that was sent is still valid.',
    platform: 'The log line names the `dependency` that did not answer.',
  },
  server_error: {
    meaning: 'The service failed on this request.',
    example: 'the service failed on this request: report the error_reference to its operator',
    application: `Repeat it once. ${REPORT}`,
    platform: 'The log line has the cause and where it happened.',
  },
  not_found: {
    meaning: 'There is nothing at this path.',
    example: 'there is nothing at this path',
    application: 'Take the addresses from `/.well-known/oauth-authorization-server`.',
  },
  method_not_allowed: {
    meaning: 'The path answers another method: `Allow` names it.',
    example: 'send POST',
    application: 'Send POST to the token endpoints; check that no redirect turned it into GET.',
  },
} as const satisfies Readonly<Record<OAuthErrorCode, ErrorCodeEntry>>;
