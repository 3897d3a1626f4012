import { type ExecutionContext, Injectable } from '@nestjs/common';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import type { FastifyRequest } from 'fastify';
import { Strategy } from 'passport-http-bearer';
import { OAuthError } from '#oauth/oauth-error.js';
import { withOneSpace } from '#oauth/text.js';

const STRATEGY = 'oauth-refresh-token';

export interface BearerRequest {
  bearer?: string;
}

/** Accepts any token, because the grant engine validates it. */
@Injectable()
export class RefreshTokenStrategy extends PassportStrategy(Strategy, STRATEGY) {
  validate(refreshToken: string): string {
    return refreshToken;
  }
}

/** Accepts requests without a token, because the controller decides whether a token is required. */
@Injectable()
export class RefreshTokenGuard extends AuthGuard(STRATEGY) {
  /** Returns only the Authorization header, because passport-http-bearer would also read the query and the body. */
  override getRequest(context: ExecutionContext): object {
    const { authorization } = context.switchToHttp().getRequest<FastifyRequest>().headers;
    return { headers: { authorization: withOneSpace(authorization) } };
  }

  override handleRequest<T>(
    error: unknown,
    token: T | false,
    _challenge: unknown,
    context: ExecutionContext,
    status?: unknown,
  ): T {
    if (error) throw error;
    if (status === 400) throw OAuthError.invalidRequest('authorization_header_malformed');
    if (token) context.switchToHttp().getRequest<{ bearer: T }>().bearer = token;
    return token as T;
  }
}
