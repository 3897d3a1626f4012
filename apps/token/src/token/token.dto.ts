import { DEVICE_CODE } from '#oauth/device-authorization.js';
import { LIMITS, Parameter, RepeatableParameter } from '#oauth/parameters.js';
import { ApiProperty } from '#openapi/schema.js';
import { ClientDto } from '../client-auth/client-credentials.dto.js';

export const GRANT_TYPES = [
  'authorization_code',
  'refresh_token',
  DEVICE_CODE,
  'client_credentials',
] as const;

const byCode = ['grant_type', 'authorization_code'] as const;
const byDeviceCode = ['grant_type', DEVICE_CODE] as const;
const byRefreshToken = ['grant_type', 'refresh_token'] as const;

const withScope = [...byRefreshToken, 'client_credentials'] as const;

const NARROWER_SCOPE = 'Fewer scopes for the new access token, separated by spaces (RFC 6749 6).';
const RESOURCE = 'URL of an API that the access token is for (RFC 8707 2.2). May be repeated.';

export class TokenDto extends ClientDto {
  @Parameter({
    max: LIMITS.grant_type,
    values: GRANT_TYPES,
    description: 'Kind of credential that is exchanged for tokens.',
  })
  grant_type: string;

  @Parameter({
    max: LIMITS.token,
    when: byCode,
    description: 'The code from the redirect. It can be used once.',
  })
  code: string;

  @Parameter({ max: LIMITS.redirect_uri, when: byCode, description: 'As in the authorization request.' })
  redirect_uri: string;

  @Parameter({
    max: LIMITS.code_verifier,
    required: false,
    when: byCode,
    description: 'Required if the authorization request had a `code_challenge` (RFC 7636 4.5).',
  })
  code_verifier?: string;

  @Parameter({
    max: LIMITS.token,
    when: byDeviceCode,
    description: 'The `device_code` of the device authorization response.',
  })
  device_code: string;

  @Parameter({
    max: LIMITS.token,
    when: byRefreshToken,
    description: 'The refresh token of the latest response.',
  })
  refresh_token: string;

  @Parameter({
    max: LIMITS.scope,
    required: false,
    when: withScope,
    description: `${NARROWER_SCOPE} With \`client_credentials\`, all registered scopes if it is absent.`,
  })
  scope?: string;

  @RepeatableParameter({ description: RESOURCE })
  resource?: unknown;
}

export class RefreshTokenDto extends ClientDto {
  @Parameter({
    max: LIMITS.grant_type,
    values: ['refresh_token'],
    description: 'Always `refresh_token`.',
  })
  grant_type: string;

  @Parameter({
    max: LIMITS.token,
    required: false,
    description: 'The refresh token of the latest response, unless the `Authorization` header has it.',
  })
  refresh_token?: string;

  @Parameter({ max: LIMITS.scope, required: false, description: NARROWER_SCOPE })
  scope?: string;

  @RepeatableParameter({ description: RESOURCE })
  resource?: unknown;
}

export class TokenResponse {
  @ApiProperty({ description: 'For the API, in the Authorization header. At most 512 characters.' })
  readonly access_token: string;

  @ApiProperty({
    optional: true,
    description:
      'Replaces the one that was sent. Store it before you use the access token. Absent with `client_credentials` (RFC 6749 4.4.3).',
  })
  readonly refresh_token?: string;

  @ApiProperty({
    type: 'string',
    enum: ['Bearer', 'DPoP'],
    description: '`DPoP` if the tokens are bound to a key (RFC 9449 5).',
  })
  readonly token_type: 'Bearer' | 'DPoP';

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Seconds until the access token expires.' })
  readonly expires_in: number;

  @ApiProperty({
    description: 'Scopes of the access token, separated by spaces; the user may have declined some.',
  })
  readonly scope: string;

  @ApiProperty({
    optional: true,
    description: 'ID token (OpenID Connect Core 2), if the scopes include `openid`.',
  })
  readonly id_token?: string;
}
