import type { CheckEntries } from './guide-entry.js';

/** Client authentication: `invalid_client`, and `invalid_request` where a request cannot be attributed to a client. */
export const CLIENT_CHECKS = {
  client_credentials_mismatch: {
    errors: ['invalid_client'],
    title: 'The client is unknown, or its secret is wrong',
    meaning:
      'No client has this `client_id` and this `client_secret`. The answer does not say which of them is wrong.',
    remedies: [
      [
        'application',
        'Compare both with what the operator gave you: no space or line break at the end, and of this installation, not of a test one.',
      ],
      ['application', 'With HTTP Basic, percent-encode both before you join them (RFC 6749 2.3.1).'],
      ['application', 'The secret may have been replaced: ask the operator for the current one.'],
    ],
  },
  client_unknown: {
    errors: ['invalid_client'],
    title: 'No client has this client_id',
    meaning: 'The `client_id` is misspelt, or belongs to another installation or a deleted client.',
    remedies: [
      ['application', 'Compare the `client_id` with what the operator gave you.'],
      ['operator', 'Compare it with the registered clients.', 'client list'],
    ],
    publishedAs: 'client_credentials_mismatch',
  },
  client_secret_mismatch: {
    errors: ['invalid_client'],
    title: 'The client secret is wrong',
    meaning: 'The client exists, but its secret is wrong, truncated or revoked.',
    remedies: [
      ['application', 'Compare the secret with what the operator gave you, and deploy the current one.'],
      [
        'operator',
        'See which secrets are live and when each was last used. Make a new one if the application has none of them.',
        'client secret list {client_id}',
        'client secret rotate {client_id}',
      ],
    ],
    publishedAs: 'client_credentials_mismatch',
  },
  client_disabled: {
    errors: ['invalid_client', 'unauthorized_client', 'invalid_token'],
    title: 'The client is disabled',
    meaning:
      'The operator has disabled the application. It has no access, and users are not redirected to it. Its tokens are refused everywhere, and work again when it is enabled.',
    remedies: [
      [
        'application',
        'Ask the operator why. Keep the tokens: unless revoked or expired, they work again when the application is enabled.',
      ],
      ['user', 'Use the application again later, or ask its makers.'],
      [
        'operator',
        'Find out who disabled it. Enable it when the problem is solved.',
        'audit search --client {client_id} --type client',
        'client enable {client_id}',
      ],
    ],
  },
  client_secret_missing: {
    errors: ['invalid_client'],
    title: 'The client secret is missing',
    meaning:
      'The client is confidential: it authenticates with its secret at every token endpoint (RFC 6749 3.2.1).',
    remedies: [
      [
        'application',
        'Send `client_secret` in the body, or HTTP Basic. Check that the configuration has it where the program runs.',
      ],
    ],
  },
  client_secret_unexpected: {
    errors: ['invalid_client'],
    title: 'A public client sent a secret',
    meaning: 'Public clients (apps in browsers, on telephones and desktops) have no secret and use PKCE.',
    remedies: [
      ['application', 'Remove `client_secret`. In your library, set the authentication method to `none`.'],
      ['operator', 'If the application runs on a server, register a confidential client for it.'],
    ],
  },
  grant_type_unregistered: {
    errors: ['unauthorized_client'],
    title: 'The client is not registered for this grant type',
    meaning:
      '`client_credentials` is only for programs of the operator, which call the HTTP API of the console. They have no users, and use no other grant type; all other applications use `authorization_code`, and devices (RFC 8628) only if the operator has registered them for it (RFC 6749 5.2).',
    remedies: [
      ['application', 'Send the user through the authorization, and redeem the code.'],
      [
        'operator',
        'Devices: `client update` with `--grant device`. Otherwise a registration keeps its grant type: the command `client create` with `--grant-type client_credentials` registers a program for the HTTP API.',
        'client show {client_id}',
      ],
    ],
  },
  client_id_missing: {
    errors: ['invalid_request'],
    title: 'The client_id is missing',
    meaning:
      'The request names no client: an authorization request in its query, any other in the body or by HTTP Basic.',
    remedies: [
      [
        'application',
        'Send `client_id` in the query of an authorization request; elsewhere in the body, or HTTP Basic.',
      ],
    ],
  },
  client_authentication_ambiguous: {
    errors: ['invalid_request'],
    title: 'The client authenticated in two ways',
    meaning:
      'The request has two of HTTP Basic, a `client_secret` and a `client_assertion` in the body (RFC 6749 2.3).',
    remedies: [
      [
        'application',
        'Choose one: `client_secret_basic`, `client_secret_post` or `private_key_jwt` in your library.',
      ],
    ],
  },
  client_id_mismatch: {
    errors: ['invalid_request'],
    title: 'The request names two clients',
    meaning:
      'The `client_id` of the body is not the one of the Authorization header, or not the `sub` of the `client_assertion`.',
    remedies: [['application', 'Leave it out of the body, or send the same in both places.']],
  },
  basic_credentials_malformed: {
    errors: ['invalid_client'],
    title: 'The Basic credentials cannot be read',
    meaning:
      'They are the base64 of `client_id:client_secret`, each of them form-encoded first (RFC 6749 2.3.1).',
    remedies: [['application', 'Let your OAuth library make the header, or send both in the body.']],
  },
  resource_server_credentials_mismatch: {
    errors: ['invalid_client'],
    title: 'The resource server is unknown, or its secret is wrong',
    meaning: 'Only an API that the operator registered may introspect tokens, with its own id and secret.',
    remedies: [
      ['application', 'Send the id (`rs_…`) and secret of the resource server, not those of a client.'],
    ],
  },
  resource_server_unknown: {
    errors: ['invalid_client'],
    title: 'No resource server has this id',
    meaning: 'The id is misspelt, belongs to another installation, or is the id of a client.',
    remedies: [
      [
        'operator',
        'Compare it with the registered ids. The command `resource-server create` registers one.',
        'resource-server list',
      ],
    ],
    publishedAs: 'resource_server_credentials_mismatch',
  },
  resource_server_secret_mismatch: {
    errors: ['invalid_client'],
    title: 'The secret of the resource server is wrong',
    meaning: 'The resource server exists, but the secret is missing, wrong or revoked.',
    remedies: [
      [
        'operator',
        'Give the API a new account with the command `resource-server create`, and revoke the old one.',
        'resource-server list',
      ],
    ],
    publishedAs: 'resource_server_credentials_mismatch',
  },
} as const satisfies CheckEntries;
