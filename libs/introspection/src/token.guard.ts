import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import { ACCESS_TOKEN_STRATEGY, type BearerRequest } from './bearer.strategy.js';
import { DpopAuthenticator } from './dpop/dpop-authenticator.js';
import type { TokenInfo } from './introspector.js';
import { type ChallengedResponse, Refusals } from './refusals.js';
import { REQUIRED_SCOPES } from './require-scope.decorator.js';

interface HttpRequest {
  readonly headers: { readonly authorization?: string; readonly dpop?: string | readonly string[] };
  readonly method: string;
  readonly url: string;
  /** The URL as it came, where a framework rewrites `url`. */
  readonly originalUrl?: string;
  readonly id?: unknown;
  readonly raw?: { readonly id?: unknown };
  token?: TokenInfo;
}

/**
 * Lets a request pass with a valid access token, which `@CurrentToken()` then gives to the handler: as Bearer by
 * passport, or as DPoP with a proof. Else it answers as RFC 6750 3 and RFC 9449 7.1 say: 401 with a challenge,
 * without an error code where no token was sent; 403 for a token that has too little scope; 400 for a malformed
 * header; 503 with Retry-After when nobody can tell whether the token is good.
 */
@Injectable()
export class TokenGuard extends AuthGuard(ACCESS_TOKEN_STRATEGY) {
  constructor(
    private readonly refusals: Refusals,
    private readonly dpop: DpopAuthenticator,
    private readonly reflector: Reflector,
  ) {
    super();
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const passed = await this.authenticate(context);
    const { token } = context.switchToHttp().getRequest<HttpRequest>();
    if (passed && token) this.checkScope(token, context);
    return passed;
  }

  private async authenticate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<HttpRequest>();
    const { authorization, dpop: proof } = request.headers;
    if (!this.dpop.takes(authorization)) return (await super.canActivate(context)) as boolean;
    const { method, originalUrl, url } = request;
    const dpopRequest = { method, path: originalUrl ?? url, authorization, proof };
    try {
      const { token, nonce } = await this.dpop.authenticate({
        ...dpopRequest,
        reference: referenceOf(request),
      });
      if (nonce !== undefined) responseOf(context).header('DPoP-Nonce', nonce);
      request.token = token;
      return true;
    } catch (error) {
      throw this.refusals.ofDpop(error, responseOf(context));
    }
  }

  override getRequest(context: ExecutionContext): BearerRequest {
    const request = context.switchToHttp().getRequest<HttpRequest>();
    return {
      headers: { authorization: request.headers.authorization },
      reference: referenceOf(request),
    };
  }

  override handleRequest<T = TokenInfo>(
    error: unknown,
    token: T | false,
    challenge: unknown,
    context: ExecutionContext,
    status?: unknown,
  ): T {
    if (error) throw this.refusals.ofFailure(error, responseOf(context));
    if (!token) throw this.refusals.ofBearer(challenge, status, responseOf(context));
    context.switchToHttp().getRequest<{ token: T }>().token = token;
    return token;
  }

  private checkScope({ scopes, jkt }: TokenInfo, context: ExecutionContext): void {
    const places = [context.getHandler(), context.getClass()];
    const required = this.reflector.getAllAndOverride<readonly string[] | undefined>(REQUIRED_SCOPES, places);
    if (!required || required.every((scope) => scopes.includes(scope))) return;
    throw this.refusals.ofScope(required.join(' '), jkt === null ? 'bearer' : 'dpop', responseOf(context));
  }
}

/** The id under which the request is logged, to be known to the token app as well. */
function referenceOf({ raw, id }: HttpRequest): string {
  const reference = raw?.id ?? id;
  return typeof reference === 'string' ? reference : '';
}

function responseOf(context: ExecutionContext): ChallengedResponse {
  return context.switchToHttp().getResponse<ChallengedResponse>();
}
