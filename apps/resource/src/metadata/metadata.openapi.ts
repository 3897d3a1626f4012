import { json, type OperationDescription } from '#openapi/operation.js';
import { ApiProperty } from '#openapi/schema.js';
import { apiErrors } from '../openapi/api-errors.js';

/** Metadata of a protected resource (RFC 9728 2). */
export class ProtectedResourceMetadata {
  @ApiProperty({ format: 'uri', description: 'Value of the `resource` parameter (RFC 8707).' })
  readonly resource: string;

  @ApiProperty({ description: 'Name of the API.' })
  readonly resource_name: string;

  @ApiProperty({
    type: 'array',
    items: { type: 'string', format: 'uri' },
    description: 'Issuers of its access tokens.',
  })
  readonly authorization_servers: readonly string[];

  @ApiProperty({
    type: 'array',
    items: { type: 'string' },
    optional: true,
    description: 'Scopes of the API; absent if there are none (RFC 9728 3.2).',
  })
  readonly scopes_supported?: readonly string[];

  @ApiProperty({
    type: 'array',
    items: { type: 'string' },
    description: 'Methods of sending an access token.',
  })
  readonly bearer_methods_supported: readonly string[];

  @ApiProperty({ type: 'array', items: { type: 'string' }, description: 'Algorithms of DPoP proofs.' })
  readonly dpop_signing_alg_values_supported: readonly string[];
}

const RESPONSES: OperationDescription['responses'] = {
  200: { description: 'The metadata.', content: json(ProtectedResourceMetadata) },
  ...apiErrors(429, 503),
};

export const API_METADATA_OPERATION: OperationDescription = {
  id: 'protectedResourceMetadata',
  tag: 'Metadata',
  summary: 'Issuer, scopes and DPoP algorithms of the API',
  description: 'RFC 9728. MCP clients configure themselves from it.',
  responses: RESPONSES,
};

export const ME_METADATA_OPERATION: OperationDescription = {
  id: 'protectedResourceMetadataOfMe',
  tag: 'Metadata',
  summary: 'Metadata of `/v2/me`',
  description: 'RFC 9728 3.1: for clients that derive the metadata URL from the URL that they call.',
  responses: RESPONSES,
};

export const USERINFO_METADATA_OPERATION: OperationDescription = {
  id: 'protectedResourceMetadataOfUserInfo',
  tag: 'Metadata',
  summary: 'Metadata of `/userinfo`',
  description: 'RFC 9728 3.1: for clients that derive the metadata URL from the URL that they call.',
  responses: RESPONSES,
};
