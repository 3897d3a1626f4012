import { DEVICE_CODE } from '#oauth/device-authorization.js';
import type { CheckOf, ClientReasons } from '#oauth/reasons.js';
import type { Descriptions } from './descriptions.js';
import type { CheckEntries } from './guide-entry.js';

/** Client authentication: `invalid_client`, and `invalid_request` if a request cannot be attributed to a client. */
export const CLIENT_CHECKS = {
  client_credentials_mismatch: {
    title: 'The application is unknown, or its secret is wrong',
    meaning:
      'No application has this `client_id` and this `client_secret`. The response does not say which is wrong.',
    application: [
      'Compare both with your registration: no space or line break at the end, and of this installation, not of a test one.',
      'With HTTP Basic, percent-encode both before you join them (RFC 6749 2.3.1).',
      'The secret may have been replaced or have expired: create another, or ask the operator for one.',
    ],
  },
  client_unknown: {
    title: 'No application has this client_id',
    meaning: 'The `client_id` is misspelt, or belongs to another installation or a deleted application.',
    application: 'Compare the `client_id` with your registration.',
    operator: 'Compare it with the registered applications.',
    commands: ['client list'],
    publishedAs: 'client_credentials_mismatch',
  },
  client_secret_mismatch: {
    title: 'The client secret is wrong',
    meaning: 'The application exists, but its secret is wrong, truncated or revoked.',
    application:
      'Deploy the current secret, complete and without a line break. If it is lost or has expired, create another, or ask the operator for one.',
    operator:
      'See which secrets are live and when each was last used. Make a new one if the application has none of them.',
    commands: ['client secret list {client_id}', 'client secret rotate {client_id}'],
    publishedAs: 'client_credentials_mismatch',
  },
  client_secret_expired: {
    title: 'The client secret has expired',
    meaning: 'The secret was right, but its time of expiry is over.',
    application: 'Make a new secret in the developer portal, or ask the operator for one, and deploy it.',
    operator: 'See which secrets are live. Make a new one, and revoke the expired one.',
    commands: ['client secret list {client_id}', 'client secret rotate {client_id}'],
  },
  client_disabled: {
    title: 'The application is disabled',
    meaning:
      'The operator has disabled the application. It has no access, and users are not redirected to it. Its tokens are refused everywhere, and work again when it is enabled.',
    application:
      'Ask the operator why. Keep the tokens: unless revoked or expired, they work again when the application is enabled.',
    user: 'Use the application again later, or ask its developer.',
    operator: 'Find out who disabled it. Enable it when the problem is solved.',
    commands: ['audit search --client {client_id} --type client', 'client enable {client_id}'],
  },
  client_in_testing: {
    title: 'The application is in testing',
    meaning:
      'The operator has not approved the application yet. Until then, only its owners and the testers who accepted an invitation can use it.',
    application: [
      'Log in with the account of an owner or tester, or invite this user in the developer portal.',
      'The users see a page, and your redirect URI gets no response. Only `prompt=none` returns this error.',
    ],
    user: 'Log in with the account that was invited, or ask the developer for an invitation.',
    operator: 'Review the request of the application.',
    commands: ['request list'],
  },
  client_secret_missing: {
    title: 'The client secret is missing',
    meaning:
      'The application is a confidential client: it authenticates with its secret at every token endpoint (RFC 6749 3.2.1).',
    application:
      'Send `client_secret` in the body, or HTTP Basic. Check that the configuration has it where the program runs.',
  },
  client_secret_unexpected: {
    title: 'A public client sent a secret',
    meaning: 'Public clients (apps in browsers, on telephones and desktops) have no secret and use PKCE.',
    application: 'Remove `client_secret`. In your library, set the authentication method to `none`.',
    operator: 'If the application runs on a server, register a confidential client for it.',
  },
  grant_type_unregistered: {
    title: 'The application is not registered for this grant type',
    meaning:
      '`client_credentials` is for API clients, which call the HTTP API of the console, have no users, and use no other grant type; and for the event stream of a confidential client, with no scope but `ssf.read` and `ssf.manage`. Other applications use `authorization_code`, and devices (RFC 8628) only if the operator has registered them for it (RFC 6749 5.2).',
    application:
      'Send the user through the authorization, and redeem the code. For the event stream, request `scope=ssf.read ssf.manage`.',
    operator:
      'Devices: `client update` with `--grant device`. Otherwise a registration keeps its grant type: the command `client create` with `--grant-type client_credentials` registers an API client.',
    commands: ['client show {client_id}'],
  },
  client_id_missing: {
    title: 'The client_id is missing',
    meaning:
      'The request names no application: an authorization request in its query, any other in the body or by HTTP Basic.',
    application:
      'Send `client_id` in the query of an authorization request; elsewhere in the body, or HTTP Basic.',
  },
  client_authentication_ambiguous: {
    title: 'The application authenticated in two ways',
    meaning:
      'The request has two of HTTP Basic, a `client_secret` and a `client_assertion` in the body (RFC 6749 2.3).',
    application:
      'Choose one: `client_secret_basic`, `client_secret_post` or `private_key_jwt` in your library.',
  },
  client_id_mismatch: {
    title: 'The request names two applications',
    meaning:
      'The `client_id` of the body is not the one of the Authorization header, or not the `sub` of the `client_assertion`.',
    application: 'Leave it out of the body, or send the same in both places.',
  },
  basic_credentials_malformed: {
    title: 'The Basic credentials cannot be read',
    meaning:
      'They are the base64 of `client_id:client_secret`, each of them form-encoded first (RFC 6749 2.3.1).',
    application: 'Let your OAuth library make the header, or send both in the body.',
  },
  resource_server_credentials_mismatch: {
    title: 'The resource server is unknown, or its secret is wrong',
    meaning: 'Only an API that the operator registered may introspect tokens, with its own id and secret.',
    application: 'Send the id (`rs_…`) and secret of the resource server, not those of an application.',
  },
  resource_server_unknown: {
    title: 'No resource server has this id',
    meaning: 'The id is misspelt, belongs to another installation, or is the id of an application.',
    operator: 'Compare it with the registered ids. The command `resource-server create` registers one.',
    commands: ['resource-server list'],
    publishedAs: 'resource_server_credentials_mismatch',
  },
  resource_server_secret_mismatch: {
    title: 'The secret of the resource server is wrong',
    meaning: 'The resource server exists, but the secret is missing, wrong or revoked.',
    operator: 'Give the API a new account with the command `resource-server create`, and revoke the old one.',
    commands: ['resource-server list'],
    publishedAs: 'resource_server_credentials_mismatch',
  },
} as const satisfies CheckEntries<CheckOf<ClientReasons>>;

const NO_RESOURCE_SERVER =
  'only a registered resource server may introspect tokens: send its id and secret, or an assertion by its keys';

export const CLIENT_DESCRIPTIONS: Descriptions<ClientReasons> = {
  client_unknown: 'unknown client, or a wrong client_secret',
  'client_unknown.assertion': 'unknown client, or a client_assertion that none of its keys signed',
  client_secret_mismatch: 'unknown client, or a wrong client_secret',
  client_secret_expired: 'the client_secret has expired',
  client_secret_missing: "the parameter 'client_secret' is missing",
  client_secret_unexpected: 'this is a public client: it has no client_secret and must not send one',
  client_disabled:
    'the operator has disabled this client: all its requests fail until the operator enables it again',
  'client_disabled.authorization': 'the operator has disabled this application',
  client_in_testing: 'this application is in testing: only its owners and testers can use it',
  client_id_missing: "the parameter 'client_id' is missing",
  'client_id_mismatch.basic': "the parameter 'client_id' is not the client of the Authorization header",
  'client_id_mismatch.assertion': "the parameter 'client_id' is not the client of the client_assertion",
  client_authentication_ambiguous:
    'authenticate the client in one way: HTTP Basic, client_secret or client_assertion',
  basic_credentials_malformed:
    'the Authorization header must be Basic with base64 of the form-encoded client_id:client_secret',
  'grant_type_unregistered.client_credentials':
    'the operator has not registered this client for client_credentials: only a confidential client may use it, for the scopes ssf.read and ssf.manage alone',
  'grant_type_unregistered.authorization_code':
    'this client is registered for client_credentials only: it has no users',
  'grant_type_unregistered.device_code': 'the operator has not registered this client for devices (RFC 8628)',
  'grant_type_unregistered.without_redirect_uri':
    'this client is registered without a redirect URI: it cannot send users here',
  unsupported_grant_type: `the parameter 'grant_type' must be authorization_code, refresh_token or ${DEVICE_CODE}`,
  'unsupported_grant_type.refresh_token_only': "the parameter 'grant_type' must be refresh_token",
  resource_server_unknown: NO_RESOURCE_SERVER,
  resource_server_secret_mismatch: NO_RESOURCE_SERVER,
};
