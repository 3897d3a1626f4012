import { type ExecutionContext, Injectable } from '@nestjs/common';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import type { FastifyRequest } from 'fastify';
import { Strategy } from 'passport-http-bearer';
import { OAuthError } from '#oauth/oauth-error.js';

const STRATEGY = 'oauth-refresh-token';

/** What the guard adds to a request. */
export interface BearerRequest {
  /** The refresh token of the Authorization header, if there is one. */
  bearer?: string;
}

/** Takes any token from the Authorization header; the grant engine decides whether it is valid. */
@Injectable()
export class RefreshTokenStrategy extends PassportStrategy(Strategy, STRATEGY) {
  validate(refreshToken: string): string {
    return refreshToken;
  }
}

/** Reads a Bearer refresh token where there is one. The controller decides whether the request needs it. */
@Injectable()
export class RefreshTokenGuard extends AuthGuard(STRATEGY) {
  /** Only the header, because passport-http-bearer takes a token from the query too. */
  override getRequest(context: ExecutionContext): object {
    const { authorization } = context.switchToHttp().getRequest<FastifyRequest>().headers;
    return { headers: { authorization } };
  }

  override handleRequest<T>(
    error: unknown,
    token: T | false,
    _challenge: unknown,
    context: ExecutionContext,
    status?: unknown,
  ): T {
    if (error) throw error;
    if (status === 400)
      throw OAuthError.invalidRequest('the Authorization header must be: Bearer <refresh token>', {
        detail: { check: 'authorization header syntax' },
      });
    if (token) context.switchToHttp().getRequest<{ bearer: T }>().bearer = token;
    return token as T;
  }
}
