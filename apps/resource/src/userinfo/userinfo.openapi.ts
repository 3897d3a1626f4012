import { ENDPOINTS } from '#oauth/endpoints.js';
import { CLAIMS_OF_SCOPE } from '#oauth/openid/claims.js';
import { OPENID } from '#oauth/openid/openid-scopes.js';
import { json, type OperationDescription } from '#openapi/operation.js';
import { ApiProperty } from '#openapi/schema.js';
import { apiErrors, NONCE } from '../openapi/api-errors.js';

export const USERINFO_METADATA_PATH = ENDPOINTS.protectedResourceMetadata + ENDPOINTS.userInfo;

export const USERINFO_ROUTE = { scope: OPENID, metadata: USERINFO_METADATA_PATH };

export const USERINFO_SCOPES: readonly string[] = [OPENID, ...Object.keys(CLAIMS_OF_SCOPE)];

/** OpenID Connect Core 5.3.2: "If a Claim is not returned, that Claim Name SHOULD be omitted". */
export class UserInfo {
  @ApiProperty({ description: 'Identifies the user, as in the ID token. Compare both.' })
  readonly sub: string;

  @ApiProperty({ optional: true, description: 'Display name. Scope `profile`.' })
  readonly name?: string;

  @ApiProperty({ optional: true, description: 'Username, which the user may change. Scope `profile`.' })
  readonly preferred_username?: string;

  @ApiProperty({ optional: true, description: 'URL of a picture. Scope `profile`.' })
  readonly picture?: string;

  @ApiProperty({ optional: true, description: 'Language (BCP 47). Scope `profile`.' })
  readonly locale?: string;

  @ApiProperty({ optional: true, description: 'IANA name, like Europe/Berlin. Scope `profile`.' })
  readonly zoneinfo?: string;

  @ApiProperty({ optional: true, description: 'Absent unless it is verified. Scope `email`.' })
  readonly email?: string;

  @ApiProperty({ optional: true, description: 'Whether the email is verified. Scope `email`.' })
  readonly email_verified?: boolean;
}

const OPERATION: Omit<OperationDescription, 'id'> = {
  tag: 'API',
  summary: 'Claims about the user who granted access',
  description:
    'OpenID Connect Core 5.3. Needs the scope `openid`; the scopes `profile` and `email` add claims. May be called from any origin (CORS).',
  security: [{ accessToken: [OPENID] }, { dpop: [OPENID] }],
  parameters: {
    DPoP: { in: 'header', description: 'Proof for a token that is bound to a key (RFC 9449 7.1).' },
  },
  responses: {
    200: {
      description: 'The claims.',
      headers: { 'DPoP-Nonce': NONCE },
      content: json(UserInfo, {
        claims: {
          sub: '7',
          name: 'Ada Lovelace',
          preferred_username: 'ada',
          zoneinfo: 'Europe/London',
          email: 'ada@example.com',
          email_verified: true,
        },
      }),
    },
    ...apiErrors(400, 401, 403, 429, 500, 503),
  },
};

export const GET_USERINFO_OPERATION: OperationDescription = { id: 'userInfo', ...OPERATION };

export const POST_USERINFO_OPERATION: OperationDescription = {
  id: 'postUserInfo',
  ...OPERATION,
  security: [...(OPERATION.security ?? []), {}],
  form: {
    type: 'object',
    properties: {
      access_token: {
        type: 'string',
        description: 'A bearer token, if there is no Authorization header (RFC 6750 2.2).',
      },
    },
  },
};
