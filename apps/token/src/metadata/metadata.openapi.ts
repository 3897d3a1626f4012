import { OAUTH_BUSY, OAUTH_NOT_FOUND } from '#openapi/oauth-errors.js';
import { json, type OperationDescription } from '#openapi/operation.js';
import { ApiProperty, type PropertySchema } from '#openapi/schema.js';
import { documentOperation } from '#openapi/serve-document.js';

const url = (description: string): PropertySchema => ({ type: 'string', format: 'uri', description });
const list = (description: string): PropertySchema => ({
  type: 'array',
  items: { type: 'string' },
  description,
});

export class OpenIdMetadata {
  @ApiProperty({ ...url('Public keys of ID tokens (RFC 7517).'), optional: true })
  readonly jwks_uri?: string;

  @ApiProperty({ ...url('Logs the user out, for the browser (RP-Initiated Logout 1.0 2).'), optional: true })
  readonly end_session_endpoint?: string;

  @ApiProperty({ description: 'Logout tokens are sent (Back-Channel Logout 1.0 2.1).', optional: true })
  readonly backchannel_logout_supported?: boolean;

  @ApiProperty({ description: 'Logout tokens and ID tokens have `sid`.', optional: true })
  readonly backchannel_logout_session_supported?: boolean;

  @ApiProperty({ ...url('Claims about the user (OpenID Connect Core 5.3).'), optional: true })
  readonly userinfo_endpoint?: string;

  @ApiProperty({ ...list('OpenID Connect Core 8.'), optional: true })
  readonly subject_types_supported?: readonly string[];

  @ApiProperty({ ...list('Algorithms of ID tokens; the default is RS256.'), optional: true })
  readonly id_token_signing_alg_values_supported?: readonly string[];

  @ApiProperty({ ...list('Claims that applications can get.'), optional: true })
  readonly claims_supported?: readonly string[];

  @ApiProperty({ description: 'OpenID Connect Core 5.5.', optional: true })
  readonly claims_parameter_supported?: boolean;

  @ApiProperty({ description: 'OpenID Connect Core 6.1.', optional: true })
  readonly request_parameter_supported?: boolean;

  @ApiProperty({ description: 'OpenID Connect Core 6.2; requests may be pushed.', optional: true })
  readonly request_uri_parameter_supported?: boolean;
}

export class AuthorizationServerMetadata extends OpenIdMetadata {
  @ApiProperty(url('The issuer.'))
  readonly issuer: string;

  @ApiProperty(url('Authorization endpoint, for the browser.'))
  readonly authorization_endpoint: string;

  @ApiProperty(url('Exchanges codes and refreshes tokens.'))
  readonly token_endpoint: string;

  @ApiProperty(url('RFC 7009.'))
  readonly revocation_endpoint: string;

  @ApiProperty(url('RFC 7662.'))
  readonly introspection_endpoint: string;

  @ApiProperty(url('RFC 9126.'))
  readonly pushed_authorization_request_endpoint: string;

  @ApiProperty(url('RFC 8628.'))
  readonly device_authorization_endpoint: string;

  @ApiProperty({ description: 'Whether every authorization request must be pushed (RFC 9126 5).' })
  readonly require_pushed_authorization_requests: boolean;

  @ApiProperty(list('RFC 6749 3.1.1.'))
  readonly response_types_supported: readonly string[];

  @ApiProperty(list('Ways in which the response reaches the redirect URI.'))
  readonly response_modes_supported: readonly string[];

  @ApiProperty(list('Grant types of the token endpoint.'))
  readonly grant_types_supported: readonly string[];

  @ApiProperty(list('Client authentication; `none` for public clients.'))
  readonly token_endpoint_auth_methods_supported: readonly string[];

  @ApiProperty(list('Algorithms of client assertions (RFC 7523).'))
  readonly token_endpoint_auth_signing_alg_values_supported: readonly string[];

  @ApiProperty(list('Client authentication; `none` for public clients.'))
  readonly revocation_endpoint_auth_methods_supported: readonly string[];

  @ApiProperty(list('Algorithms of client assertions (RFC 7523).'))
  readonly revocation_endpoint_auth_signing_alg_values_supported: readonly string[];

  @ApiProperty(list('Authentication of resource servers.'))
  readonly introspection_endpoint_auth_methods_supported: readonly string[];

  @ApiProperty(list('Algorithms of client assertions (RFC 7523).'))
  readonly introspection_endpoint_auth_signing_alg_values_supported: readonly string[];

  @ApiProperty(list('Scopes that clients may be registered for.'))
  readonly scopes_supported: readonly string[];

  @ApiProperty(list('Languages of the pages (BCP 47).'))
  readonly ui_locales_supported: readonly string[];

  @ApiProperty(list('Values of `prompt`.'))
  readonly prompt_values_supported: readonly string[];

  @ApiProperty(list('Algorithms of DPoP proofs (RFC 9449 5.1).'))
  readonly dpop_signing_alg_values_supported: readonly string[];

  @ApiProperty(list('RFC 7636.'))
  readonly code_challenge_methods_supported: readonly string[];

  @ApiProperty({ description: 'Whether redirects carry `iss` (RFC 9207).' })
  readonly authorization_response_iss_parameter_supported: boolean;

  @ApiProperty({
    description:
      'Whether a `client_id` may be the URL of a metadata document (draft-ietf-oauth-client-id-metadata-document). The operator decides which applications are admitted.',
  })
  readonly client_id_metadata_document_supported: boolean;
}

const TEXT = { type: 'string' } as const;

class JsonWebKeySet {
  @ApiProperty({
    type: 'array',
    items: {
      type: 'object',
      properties: {
        kty: TEXT,
        kid: TEXT,
        alg: TEXT,
        use: TEXT,
        n: TEXT,
        e: TEXT,
        crv: TEXT,
        x: TEXT,
        y: TEXT,
      },
      required: ['kty', 'kid', 'alg', 'use'],
    },
    description: 'The first key of each algorithm signs, or will sign after a rotation.',
  })
  readonly keys: readonly object[];
}

export const JWKS_OPERATION = documentOperation(
  {
    id: 'jwks',
    summary: 'Public keys of ID tokens and logout tokens (RFC 7517)',
    content: json(JsonWebKeySet),
  },
  { ...OAUTH_NOT_FOUND, ...OAUTH_BUSY },
);

export const OPENID_CONFIGURATION_OPERATION: OperationDescription = {
  id: 'openIdConfiguration',
  tag: 'Metadata',
  summary: 'Endpoints and features of the OpenID provider',
  description: 'OpenID Connect Discovery 4. The same document as of RFC 8414; 404 if OpenID Connect is off.',
  responses: {
    200: { description: 'The metadata.', content: json(AuthorizationServerMetadata) },
    ...OAUTH_NOT_FOUND,
    ...OAUTH_BUSY,
  },
};

export const METADATA_OPERATION: OperationDescription = {
  id: 'authorizationServerMetadata',
  tag: 'Metadata',
  summary: 'Endpoints and features of the authorization server',
  description: 'RFC 8414. Libraries configure themselves from it.',
  responses: {
    200: { description: 'The metadata.', content: json(AuthorizationServerMetadata) },
    ...OAUTH_BUSY,
  },
};
