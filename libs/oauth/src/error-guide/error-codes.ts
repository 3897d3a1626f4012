import type { OAuthErrorCode } from '../error-code.js';
import type { GuideEntry } from './guide-entry.js';

const REPORT = 'Report the `error_reference` to the operator of this service.';

/** What each `error` means, whatever check has failed. */
export const ERROR_CODES = {
  invalid_request: {
    title: 'invalid_request',
    meaning:
      'The request is malformed: the description says what is wrong with it (RFC 6749 4.1.2.1 and 5.2).',
    remedies: [['application', 'Correct the request; the same one will be refused again.']],
  },
  invalid_client: {
    title: 'invalid_client',
    meaning: 'The client did not authenticate (RFC 6749 5.2).',
    remedies: [
      ['application', 'Check `client_id`, `client_secret` and the authentication method of your library.'],
    ],
  },
  invalid_grant: {
    title: 'invalid_grant',
    meaning: 'The code or refresh token cannot be used, now or later (RFC 6749 5.2).',
    remedies: [['application', 'Do not repeat the request. Send the user through the authorization again.']],
  },
  unauthorized_client: {
    title: 'unauthorized_client',
    meaning: 'The client may not do this (RFC 6749 5.2).',
    remedies: [['operator', 'See what the client may do.', 'client show {client_id}']],
  },
  unsupported_grant_type: {
    title: 'unsupported_grant_type',
    meaning:
      'The `grant_type` is not `authorization_code` or `refresh_token`. There is no password or client credentials grant.',
    remedies: [['application', 'Send one of the two: `refreshToken` takes `refresh_token` only.']],
  },
  unsupported_response_type: {
    title: 'unsupported_response_type',
    meaning: 'The `response_type` is not `code` (RFC 6749 4.1.2.1).',
    remedies: [['application', 'Send `response_type=code`.']],
  },
  invalid_scope: {
    title: 'invalid_scope',
    meaning: 'A scope does not exist, is malformed, or is more than was granted (RFC 6749 3.3).',
    remedies: [['application', 'Ask for the scopes that the description lists.']],
  },
  invalid_target: {
    title: 'invalid_target',
    meaning:
      'The `resource` is not an API of this service, or not one of the authorization request (RFC 8707 2).',
    remedies: [['application', 'Name an API that the description lists, or leave `resource` out.']],
  },
  access_denied: {
    title: 'access_denied',
    meaning: 'The user has answered Cancel, or the login was refused (RFC 6749 4.1.2.1).',
    remedies: [['application', 'Tell the user that nothing is connected, and offer to start again.']],
  },
  login_required: {
    title: 'login_required',
    meaning: 'Nobody is logged in, and `prompt=none` allows no page (OpenID Connect Core 3.1.2.6).',
    remedies: [['application', 'Send the user through the authorization again without `prompt=none`.']],
  },
  consent_required: {
    title: 'consent_required',
    meaning: 'The user has to decide, and `prompt=none` allows no page (OpenID Connect Core 3.1.2.6).',
    remedies: [['application', 'Send the user through the authorization again without `prompt=none`.']],
  },
  invalid_dpop_proof: {
    title: 'invalid_dpop_proof',
    meaning: 'The DPoP proof is not valid for this request (RFC 9449 5 and 7.1).',
    remedies: [['application', 'Make a new proof for each request with a library.']],
  },
  use_dpop_nonce: {
    title: 'use_dpop_nonce',
    meaning: 'The proof needs the nonce that the answer carries as `DPoP-Nonce` (RFC 9449 8).',
    remedies: [['application', 'Repeat the request with this nonce in the proof.']],
  },
  invalid_token: {
    title: 'invalid_token',
    meaning: 'An API refuses the access token (RFC 6750 3.1).',
    remedies: [['application', 'Refresh it once and repeat the request.']],
  },
  insufficient_scope: {
    title: 'insufficient_scope',
    meaning: 'The access token lacks a scope that the API needs (RFC 6750 3.1).',
    remedies: [
      ['application', 'Send the user through the authorization again with the scope of `WWW-Authenticate`.'],
    ],
  },
  temporarily_unavailable: {
    title: 'temporarily_unavailable',
    meaning:
      'The service is overloaded, or one of its servers did not answer. Nothing is wrong with the request.',
    remedies: [
      [
        'application',
        'Repeat the request after `Retry-After` seconds. A token or code that was sent is still valid.',
      ],
      ['platform', 'The log line names the `dependency` that did not answer.'],
    ],
  },
  server_error: {
    title: 'server_error',
    meaning: 'The service failed on this request.',
    remedies: [
      ['application', `Repeat it once. ${REPORT}`],
      ['platform', 'The log line has the cause and where it happened.'],
    ],
  },
  not_found: {
    title: 'not_found',
    meaning: 'There is nothing at this path.',
    remedies: [['application', 'Take the addresses from `/.well-known/oauth-authorization-server`.']],
  },
  method_not_allowed: {
    title: 'method_not_allowed',
    meaning: 'The path answers another method: `Allow` names it.',
    remedies: [
      ['application', 'Send POST to the token endpoints; check that no redirect turned it into GET.'],
    ],
  },
} as const satisfies Readonly<Record<OAuthErrorCode, GuideEntry>>;
