import { Parameter } from '#oauth/parameter.decorator.js';
import { LIMITS } from '../token/token.dto.js';

/** RFC 7009 2.1 and RFC 7662 2.1. The hint is not needed: a token says itself what it is. */
export class TokenDto {
  @Parameter({ max: LIMITS.token }) token: string;
  @Parameter({ max: LIMITS.grantType, required: false }) token_type_hint?: string;
}
