import {
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  SetMetadata,
  type Type,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import { withOneSpace } from '#oauth/text.js';
import { ACCESS_TOKEN_STRATEGY, type BearerRequest } from './bearer.strategy.js';
import { DpopAuthenticator } from './dpop-authenticator.js';
import { type AnyToken, Introspector, isOfUser } from './introspector.js';
import { type ChallengedResponse, type ProtectedRoute, Refusals } from './refusals.js';

/** Injects the token that `TokenGuard` accepted: a `TokenInfo`, or with `@RequireClientToken` a `ClientTokenInfo`. */
export const CurrentToken = createParamDecorator(
  (_data: unknown, context: ExecutionContext): AnyToken =>
    context.switchToHttp().getRequest<{ token: AnyToken }>().token,
);

const CLIENT_TOKENS = 'introspection:client tokens';

/**
 * Makes `TokenGuard` accept only tokens that a client requested for itself (RFC 6749 4.4), on a handler or on every
 * handler of a controller. Without this decorator, the guard accepts only tokens of users.
 */
export const RequireClientToken = (): ClassDecorator & MethodDecorator => SetMetadata(CLIENT_TOKENS, true);

const REQUIRED_SCOPES = 'introspection:required scopes';

/**
 * Requires scopes for a handler, or for every handler of a controller. `TokenGuard` rejects a token that lacks one of
 * these scopes with 403 `insufficient_scope` (RFC 6750 3.1). The scopes of a handler replace the scopes of its
 * controller.
 */
export const RequireScope = (...scopes: string[]): ClassDecorator & MethodDecorator =>
  SetMetadata(REQUIRED_SCOPES, scopes);

const RESOURCE_METADATA = 'introspection:resource metadata';

/**
 * Sets the metadata address (RFC 9728 3.1) of a handler, or of every handler of a controller, to a URL or to a path on
 * the host of `resourceUrl` (without it, of `resourceMetadata`). Challenges contain the address, because a client may
 * accept only metadata whose `resource` is the URL that the client called (3.3).
 */
export const ResourceMetadata = (address: string): ClassDecorator & MethodDecorator =>
  SetMetadata(RESOURCE_METADATA, address);

interface HttpRequest {
  readonly headers: { readonly authorization?: string; readonly dpop?: string | readonly string[] };
  readonly method: string;
  readonly url: string;
  /** URL as received, if the framework rewrites `url`. */
  readonly originalUrl?: string;
  readonly id?: unknown;
  readonly raw?: { readonly id?: unknown };
  token?: AnyToken;
}

/** Typed with Nest's types, because projects that install the package do not have the types of passport. */
const BearerGuard: Type<CanActivate> = AuthGuard(ACCESS_TOKEN_STRATEGY);

/**
 * Accepts requests with a valid access token of a user (with `@RequireClientToken`: of a client), as Bearer through
 * passport or as DPoP with a proof. Rejects other requests as RFC 6750 3 and RFC 9449 7.1 require: with 401 and a
 * challenge, with 403 if a scope is missing, or with 400 for a malformed header. Responds with 503 and Retry-After if
 * the token app is unavailable.
 */
@Injectable()
export class TokenGuard extends BearerGuard {
  /** @internal */
  constructor(
    private readonly introspector: Introspector,
    private readonly dpop: DpopAuthenticator,
    private readonly refusals: Refusals,
    private readonly reflector: Reflector,
  ) {
    super();
  }

  override canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<HttpRequest>();
    // Bypasses passport for a cached token, which saves a promise and passport's closures for each request.
    const cached = this.introspector.cached(bearerToken(request.headers.authorization));
    if (!cached) return this.authenticate(request, context);
    request.token = cached;
    return this.permits(cached, context);
  }

  /** @internal Returns the part of the request that passport may read. */
  getRequest(context: ExecutionContext): BearerRequest {
    const request = context.switchToHttp().getRequest<HttpRequest>();
    return {
      headers: { authorization: withOneSpace(request.headers.authorization) },
      reference: referenceOf(request),
    };
  }

  /** @internal Returns the token. @throws the error to send */
  handleRequest<T = AnyToken>(
    error: unknown,
    token: T | false,
    challenge: unknown,
    context: ExecutionContext,
    status?: unknown,
  ): T {
    const response = responseOf(context);
    if (error) throw this.refusals.failure(response, error);
    if (token) {
      context.switchToHttp().getRequest<{ token: T }>().token = token;
      return token;
    }
    const route = this.routeOf(context);
    // passport-http-bearer fails with 400 for a malformed header, and with a challenge otherwise.
    if (status === 400 || challenge === 400) throw this.refusals.malformedHeader(response, route);
    const isPresent = typeof challenge === 'string' && challenge.includes('invalid_token');
    throw isPresent
      ? this.refusals.invalidToken(response, route)
      : this.refusals.missingToken(response, route);
  }

  private async authenticate(request: HttpRequest, context: ExecutionContext): Promise<boolean> {
    const { authorization } = request.headers;
    if (this.dpop.handles(authorization)) await this.authenticateDpop(request, authorization, context);
    else await super.canActivate(context);
    return request.token !== undefined && this.permits(request.token, context);
  }

  private async authenticateDpop(
    request: HttpRequest,
    authorization: string,
    context: ExecutionContext,
  ): Promise<void> {
    const { method, originalUrl, url, headers } = request;
    const response = responseOf(context);
    try {
      const { token, nonce } = await this.dpop.authenticate({
        method,
        path: originalUrl ?? url,
        authorization,
        proof: headers.dpop,
        reference: referenceOf(request),
      });
      if (nonce !== undefined) response.header('DPoP-Nonce', nonce);
      request.token = token;
    } catch (error) {
      throw this.refusals.dpop(response, this.routeOf(context), error);
    }
  }

  /**
   * @throws UnauthorizedException for a client's token on a route for users, or for a user's token on a route for
   * clients
   * @throws ForbiddenException if a required scope is missing
   */
  private permits(token: AnyToken, context: ExecutionContext): true {
    if (isOfUser(token) === this.isForClients(context))
      throw this.refusals.wrongSubject(responseOf(context), this.routeOf(context), token);
    const required = this.requiredScopes(context);
    if (!required || required.every((scope) => token.scopes.includes(scope))) return true;
    throw this.refusals.insufficientScope(responseOf(context), this.routeOf(context), token);
  }

  private routeOf(context: ExecutionContext): ProtectedRoute {
    return {
      scope: this.requiredScopes(context)?.join(' '),
      metadata: this.reflector.getAllAndOverride<string | undefined>(RESOURCE_METADATA, targetsOf(context)),
      isForClients: this.isForClients(context),
    };
  }

  private isForClients(context: ExecutionContext): boolean {
    return this.reflector.getAllAndOverride<true | undefined>(CLIENT_TOKENS, targetsOf(context)) === true;
  }

  private requiredScopes(context: ExecutionContext): readonly string[] | undefined {
    return this.reflector.getAllAndOverride<readonly string[] | undefined>(
      REQUIRED_SCOPES,
      targetsOf(context),
    );
  }
}

/** Returns an empty string for any header other than `Bearer …`, which passport or DpopAuthenticator then parses. */
function bearerToken(authorization = ''): string {
  return authorization.startsWith('Bearer ') ? authorization.slice('Bearer '.length) : '';
}

function referenceOf({ raw, id }: HttpRequest): string {
  const reference = raw?.id ?? id;
  return typeof reference === 'string' ? reference : '';
}

function targetsOf(context: ExecutionContext) {
  return [context.getHandler(), context.getClass()];
}

function responseOf(context: ExecutionContext): ChallengedResponse {
  return context.switchToHttp().getResponse<ChallengedResponse>();
}
