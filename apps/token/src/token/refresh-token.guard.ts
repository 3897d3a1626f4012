import { type ExecutionContext, Injectable } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import type { FastifyRequest } from 'fastify';
import { OAuthError } from '#oauth/oauth-error.js';
import { REFRESH_TOKEN_STRATEGY } from './refresh-token.strategy.js';

export interface BearerRefreshRequest {
  /** The refresh token of the Authorization header, if there was one. */
  bearer?: string;
}

/** Reads a Bearer refresh token where there is one. Whether one is due is the controller's rule. */
@Injectable()
export class RefreshTokenGuard extends AuthGuard(REFRESH_TOKEN_STRATEGY) {
  /** The header only: passport-http-bearer would take a token from the query, too. */
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
      throw OAuthError.invalidRequest('the Authorization header must be: Bearer <refresh token>');
    if (token) context.switchToHttp().getRequest<{ bearer: T }>().bearer = token;
    return token as T;
  }
}
