import { LIMITS, Parameter, RepeatableParameter } from '#oauth/parameters.js';
import { ClientDto } from '../client-auth/client-authenticator.service.js';

/** The grant types of the token endpoint. */
export const GRANT_TYPES = ['authorization_code', 'refresh_token'] as const;

const byCode = ({ grant_type: type }: TokenDto) => type === 'authorization_code';
const byRefreshToken = ({ grant_type: type }: TokenDto) => type === 'refresh_token';

/** `POST /api/auth/oauth/token`. */
export class TokenDto extends ClientDto {
  @Parameter({ max: LIMITS.grant_type }) grant_type: string;
  /** RFC 6749 4.1.3, RFC 7636 4.5. */
  @Parameter({ max: LIMITS.token, when: byCode }) code: string;
  @Parameter({ max: LIMITS.redirect_uri, when: byCode }) redirect_uri: string;
  @Parameter({ max: LIMITS.code_verifier, required: false, when: byCode }) code_verifier?: string;
  /** RFC 6749 6. */
  @Parameter({ max: LIMITS.token, when: byRefreshToken }) refresh_token: string;
  @Parameter({ max: LIMITS.scope, required: false, when: byRefreshToken }) scope?: string;
  /** RFC 8707 2.2. */
  @RepeatableParameter() resource?: unknown;
}

/** `POST /api/auth/oauth/refreshToken`, where the refresh token may come as Bearer instead. */
export class RefreshTokenDto extends ClientDto {
  @Parameter({ max: LIMITS.grant_type }) grant_type: string;
  @Parameter({ max: LIMITS.token, required: false }) refresh_token?: string;
  @Parameter({ max: LIMITS.scope, required: false }) scope?: string;
  @RepeatableParameter() resource?: unknown;
}

/** RFC 6749 5.1. */
export interface TokenAnswer {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly token_type: 'Bearer' | 'DPoP';
  readonly expires_in: number;
  readonly scope: string;
}
