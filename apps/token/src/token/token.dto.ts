import { Parameter } from '#oauth/parameter.decorator.js';

/** Longest accepted values. Codes and tokens have 88 characters, tokens bound to a key 112. */
export const LIMITS = {
  clientId: 255,
  clientSecret: 255,
  token: 512,
  redirectUri: 2000,
  grantType: 64,
  verifier: 128,
  scope: 1000,
} as const;

/** The grant types of the token endpoint (specification 5). */
export const GRANT_TYPES = ['authorization_code', 'refresh_token'] as const;

/** Client credentials in the body (RFC 6749 2.3.1); absent when HTTP Basic carries them. */
export class ClientDto {
  @Parameter({ max: LIMITS.clientId, required: false }) client_id?: string;
  @Parameter({ max: LIMITS.clientSecret, required: false }) client_secret?: string;
}

/** What every token request has. */
export class GrantTypeDto {
  @Parameter({ max: LIMITS.grantType }) grant_type: string;
}

/** RFC 6749 4.1.3, RFC 7636 4.5. */
export class CodeDto {
  @Parameter({ max: LIMITS.token }) code: string;
  @Parameter({ max: LIMITS.redirectUri }) redirect_uri: string;
  @Parameter({ max: LIMITS.verifier, required: false }) code_verifier?: string;
}

/** RFC 6749 6; the token is absent where it came as Bearer. */
export class RefreshTokenDto {
  @Parameter({ max: LIMITS.token, required: false }) refresh_token?: string;
  @Parameter({ max: LIMITS.scope, required: false }) scope?: string;
}

/** RFC 6749 5.1. */
export interface TokenAnswer {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly token_type: 'Bearer' | 'DPoP';
  readonly expires_in: number;
  readonly scope: string;
}
