import { OAUTH_BUSY } from '#openapi/oauth-errors.js';
import { json, type OperationDescription } from '#openapi/operation.js';
import { ApiProperty, type PropertySchema } from '#openapi/schema.js';

const url = (description: string): PropertySchema => ({ type: 'string', format: 'uri', description });
const list = (description: string): PropertySchema => ({
  type: 'array',
  items: { type: 'string' },
  description,
});

/** RFC 8414 2. */
export class AuthorizationServerMetadata {
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

  @ApiProperty(list('Client authentication; `none` for public clients.'))
  readonly revocation_endpoint_auth_methods_supported: readonly string[];

  @ApiProperty(list('Authentication of resource servers.'))
  readonly introspection_endpoint_auth_methods_supported: readonly string[];

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
}

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
