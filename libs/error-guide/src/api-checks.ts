import type { ApiCheck } from '#oauth/reasons.js';
import type { CheckEntries } from './guide-entry.js';

/** Requests to an API with an access token (RFC 6750 3.1, RFC 9449 7.1). */
export const API_CHECKS = {
  access_token_missing: {
    title: 'The access token is missing',
    meaning:
      'The request has no `Authorization` header. The response is 401 without an error code (RFC 6750 3).',
    application:
      'Send `Authorization: Bearer <access token>`. HTTP libraries drop it when they follow a redirect to another host.',
  },
  access_token_repeated: {
    title: 'The request has more than one access token',
    meaning: 'It is in the `Authorization` header and in the body, or in the body twice (RFC 6750 2, 3.1).',
    application: 'Send the token in the `Authorization` header only.',
  },
  access_token_inactive: {
    title: 'The access token is not valid',
    meaning:
      'It has expired, was revoked, is for another API, is bound to a key that the request did not prove, or is not an access token.',
    application: [
      'Refresh it once and repeat the request. If the refresh is refused, send the user through the authorization again.',
      'Send the `access_token`. If the token begins with `eyJ`, it is the `id_token`, which no API accepts.',
    ],
  },
  token_without_user: {
    title: 'The access token has no user',
    meaning:
      'An API client of the operator requested it for itself (`client_credentials`, RFC 6749 4.4). This API needs the token of a user.',
    application: 'Use this token at the HTTP API of the console only.',
  },
  token_of_user: {
    title: 'The access token belongs to a user',
    meaning:
      'The HTTP API of the console accepts only tokens that an API client of the operator requested for itself.',
    operator:
      'Register the API client with the command `client create` and `--grant-type client_credentials`.',
  },
  scope_insufficient: {
    title: 'The access token lacks a scope',
    meaning:
      'The API needs a scope that the user has not granted: `WWW-Authenticate` names it (RFC 6750 3.1).',
    application: 'Send the user through the authorization again with this scope.',
    operator:
      'If the application may not request it yet, register it. An API client needs `admin:operators` also to change an API client that has this scope.',
    commands: ['client update {client_id} --add-scope {scope}'],
  },
} as const satisfies CheckEntries<ApiCheck>;
