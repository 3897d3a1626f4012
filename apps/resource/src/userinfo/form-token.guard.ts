import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusals } from '#introspection/refusals.js';
import type { Parameters } from '#oauth/parameters.js';
import { USERINFO_ROUTE } from './userinfo.openapi.js';

/**
 * Accepts an access token in a form body (RFC 6750 2.2), as UserInfo must (OpenID Connect Core 5.3.1). Copies the token
 * to the Authorization header, because the subsequent `TokenGuard` reads only this header.
 */
@Injectable()
export class FormTokenGuard implements CanActivate {
  constructor(private readonly refusals: Refusals) {}

  canActivate(context: ExecutionContext): true {
    const http = context.switchToHttp();
    const { method, headers, body } = http.getRequest<FastifyRequest<{ Body: Parameters | undefined }>>();
    const type = headers['content-type'] ?? '';
    if (method !== 'POST' || !/^application\/x-www-form-urlencoded *(?:;|$)/i.test(type)) return true;
    const token = body?.['access_token'];
    if (token === undefined) return true;
    // RFC 6750 2: "Clients MUST NOT use more than one method to transmit the token in each request."
    if (headers.authorization !== undefined || typeof token !== 'string')
      throw this.refusals.repeatedToken(http.getResponse<FastifyReply>(), USERINFO_ROUTE);
    headers.authorization = `Bearer ${token}`;
    return true;
  }
}
