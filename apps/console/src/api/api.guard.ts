import { type CanActivate, type ExecutionContext, Injectable, UnauthorizedException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ClientService } from '#clients/operations/client.service.js';
import type { Actor } from '#operations/audit-trail.js';
import { type ClientTokenInfo, TokenGuard } from '#introspection/index.js';
import { OPERATORS_SCOPE } from '#oauth/client-credentials.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { RateLimits } from '#pages/rate-limit.js';
import type { Condition } from './conditions.js';
import { rulesOf } from './operation-rules.js';
import { checkShape } from './request-shape.js';

/** `actor` is set unless the method is GET; `expected` is set while an operation with If-Match is executed. */
export type ApiRequest = FastifyRequest & { token: ClientTokenInfo; actor: Actor; expected?: Condition };

/**
 * Authenticates and counts a request, and checks its shape. Ignores cookies, so that other sites cannot make a browser
 * call the API.
 */
@Injectable()
export class ApiGuard implements CanActivate {
  constructor(
    private readonly tokens: TokenGuard,
    private readonly limits: RateLimits,
    private readonly clients: ClientService,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const [request, reply] = [http.getRequest<ApiRequest>(), http.getResponse<FastifyReply>()];
    try {
      await this.tokens.canActivate(context);
    } catch (error) {
      if (error instanceof UnauthorizedException) await this.limits.take('unauthenticated', request, reply);
      throw error;
    }
    const { clientId, scopes } = request.token;
    addLogContext(request.raw, { client_id: clientId });
    await this.limits.take('api', request, reply, clientId);
    // Before the interceptors: a form, which other sites can send, must not reach `FormInterceptor`.
    checkShape(request, rulesOf(context.getHandler()));
    const role = scopes.includes(OPERATORS_SCOPE) ? 'admin' : null;
    if (request.method !== 'GET') request.actor = { name: await this.nameOf(clientId), channel: 'api', role };
    return true;
  }

  private async nameOf(clientId: string): Promise<string> {
    const { name } = await this.clients.identify(clientId);
    return name === null ? clientId : `${name} (${clientId})`;
  }
}
