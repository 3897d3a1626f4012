import { oauthErrors } from '#openapi/oauth-errors.js';
import { json, type OperationDescription } from '#openapi/operation.js';
import { ApiProperty } from '#openapi/schema.js';

/** RFC 7662 2.2: the response for an inactive token contains only `active`. */
export class InactiveToken {
  @ApiProperty({ type: 'boolean', const: false, description: 'Refuse the request that carried the token.' })
  readonly active: false;
}

export class ActiveToken {
  @ApiProperty({ type: 'boolean', const: true, description: 'The token is a valid access token.' })
  readonly active: true;

  @ApiProperty({ format: 'uri', description: 'The issuer.' })
  readonly iss: string;

  @ApiProperty({
    description: 'The grant of the token. The broadcast `oauth.grant.revoked` contains it.',
  })
  readonly grant_id: string;

  @ApiProperty({ description: 'The client that the token was issued to.' })
  readonly client_id: string;

  @ApiProperty({
    description:
      'Id of the user. The `client_id` if the client requested the token for itself (RFC 6749 4.4): then it has no user, and `aud` is the console.',
  })
  readonly sub: string;

  @ApiProperty({ description: 'Scopes, separated by spaces.' })
  readonly scope: string;

  @ApiProperty({ type: 'integer', description: 'Expiry, in seconds since the epoch.' })
  readonly exp: number;

  @ApiProperty({
    type: 'array',
    items: { type: 'string', format: 'uri' },
    optional: true,
    description:
      'Origins of the APIs that the token is for: refuse it if yours is not among them (RFC 9700 2.3). Absent if it is for every API.',
  })
  readonly aud?: readonly string[];

  @ApiProperty({
    type: 'string',
    optional: true,
    description: 'Id of the user in the product, if there is one.',
  })
  readonly external_id?: string;

  @ApiProperty({ type: 'string', enum: ['Bearer', 'DPoP'], description: 'How the token must be presented.' })
  readonly token_type: 'Bearer' | 'DPoP';

  @ApiProperty({
    type: 'object',
    properties: { jkt: { type: 'string', description: 'Thumbprint (RFC 7638).' } },
    required: ['jkt'],
    optional: true,
    description: 'The key of a bound token: require a proof by it (RFC 9449 6.2).',
  })
  readonly cnf?: { readonly jkt: string };
}

export const INTROSPECT_OPERATION: OperationDescription = {
  id: 'introspect',
  tag: 'Tokens',
  summary: 'Returns whether an access token is valid',
  description:
    'RFC 7662. Only for registered resource servers, which authenticate with their own id and secret.',
  security: [{ basic: [] }, {}],
  responses: {
    200: {
      description: 'The state of the token.',
      content: json(
        { oneOf: [ActiveToken, InactiveToken] },
        {
          active: {
            active: true,
            iss: 'https://base.example.com',
            grant_id: '2jmj7l5rSw0yVb_vlWAYkK_YBwkZJ3kxvQ0eXl5Tz2M',
            client_id: 'c_5Ty8…',
            sub: '7',
            scope: 'profile:read',
            exp: 1795460400,
            token_type: 'Bearer',
          },
          inactive: { active: false },
        },
      ),
    },
    ...oauthErrors({ 400: ['invalid_request'], 401: ['invalid_client'] }),
  },
};
