import {
  BadRequestException,
  type ExecutionContext,
  ForbiddenException,
  HttpException,
  Injectable,
  ServiceUnavailableException,
  UnauthorizedException,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import { ACCESS_TOKEN_STRATEGY, type BearerRequest } from './bearer.strategy.js';
import { Challenges } from './challenges.js';
import { DpopAuthenticator } from './dpop/dpop-authenticator.js';
import { DpopRefusedError } from './dpop/dpop-refused.error.js';
import type { TokenInfo } from './introspector.js';
import { REQUIRED_SCOPES } from './require-scope.decorator.js';
import { IntrospectionUnavailableError } from './unavailable.error.js';

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

interface HttpResponse {
  header(name: string, value: string): void;
}

/**
 * Lets a request pass with a valid access token, which `@CurrentToken()` then gives to the handler: as Bearer by
 * passport, or as DPoP with a proof. Else it answers as RFC 6750 3 and RFC 9449 7.1 say: 401 with a challenge,
 * without an error code where no token was sent; 403 for a token that has too little scope; 400 for a malformed header; 503 with Retry-After when nobody can
 * tell whether the token is good.
 */
@Injectable()
export class TokenGuard extends AuthGuard(ACCESS_TOKEN_STRATEGY) {
  constructor(
    private readonly challenges: Challenges,
    private readonly dpop: DpopAuthenticator,
    private readonly reflector: Reflector,
  ) {
    super();
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const passed = await this.#authenticate(context);
    const { token } = context.switchToHttp().getRequest<HttpRequest>();
    if (passed && token) this.#checkScope(token, context);
    return passed;
  }

  async #authenticate(context: ExecutionContext): Promise<boolean> {
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
      context.switchToHttp().getResponse<HttpResponse>().header('DPoP-Nonce', nonce);
      request.token = token;
      return true;
    } catch (error) {
      throw this.#dpopRefusal(error, context.switchToHttp().getResponse<HttpResponse>());
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
    if (error || !token) throw this.#bearerRefusal(error, challenge, status, context);
    context.switchToHttp().getRequest<{ token: T }>().token = token;
    return token;
  }

  /** RFC 6750 3.1: "The request requires higher privileges than provided by the access token": 403. */
  #checkScope({ scopes, jkt }: TokenInfo, context: ExecutionContext): void {
    const places = [context.getHandler(), context.getClass()];
    const required = this.reflector.getAllAndOverride<readonly string[] | undefined>(REQUIRED_SCOPES, places);
    if (!required || required.every((scope) => scopes.includes(scope))) return;
    const scope = required.join(' ');
    const scheme = jkt === null ? 'bearer' : 'dpop';
    const challenge = this.challenges[scheme]('insufficient_scope', scope);
    context.switchToHttp().getResponse<HttpResponse>().header('WWW-Authenticate', challenge);
    throw new ForbiddenException(
      `the access token needs the scope ${scope}: ask the user to authorize again with it`,
    );
  }

  #dpopRefusal(error: unknown, response: HttpResponse): Error {
    if (!(error instanceof DpopRefusedError)) return failure(error, response);
    response.header('WWW-Authenticate', this.challenges.dpop(error.code));
    if (error.nonce !== undefined) response.header('DPoP-Nonce', error.nonce);
    return error.code === 'invalid_request'
      ? new BadRequestException(error.message, { cause: error })
      : new UnauthorizedException(error.message, { cause: error });
  }

  #bearerRefusal(error: unknown, challenge: unknown, status: unknown, context: ExecutionContext): Error {
    const response = context.switchToHttp().getResponse<HttpResponse>();
    if (error) return failure(error, response);
    const refuse = (code: string | null, exception: Error) => {
      response.header('WWW-Authenticate', this.challenges.bearer(code));
      return exception;
    };
    if (status === 400 || challenge === 400)
      return refuse(
        'invalid_request',
        new BadRequestException('the Authorization header must be: Bearer <access token>'),
      );
    const presented = typeof challenge === 'string' && challenge.includes('invalid_token');
    return presented
      ? refuse(
          'invalid_token',
          new UnauthorizedException(
            'the access token is not valid: it may have expired or been revoked, or it is bound to a key (DPoP); refresh it',
          ),
        )
      : refuse(
          null,
          new UnauthorizedException('an access token is needed: Authorization: Bearer <access token>'),
        );
  }
}

/** The id under which the request is logged, to be known to the token app as well. */
function referenceOf({ raw, id }: HttpRequest): string {
  const reference = raw?.id ?? id;
  return typeof reference === 'string' ? reference : '';
}

/** Nobody could tell whether the token is good. */
function failure(error: unknown, response: HttpResponse): Error {
  if (error instanceof IntrospectionUnavailableError) {
    response.header('Retry-After', '1');
    return new ServiceUnavailableException(
      'the token cannot be checked just now, repeat the request in a moment',
      { cause: error },
    );
  }
  return error instanceof Error
    ? error
    : new HttpException('the token could not be checked', 500, { cause: error });
}
