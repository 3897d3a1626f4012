import {
  BadRequestException,
  type ExecutionContext,
  HttpException,
  Inject,
  Injectable,
  ServiceUnavailableException,
  UnauthorizedException,
} from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import { ACCESS_TOKEN_STRATEGY, type BearerRequest } from './bearer.strategy.js';
import { INTROSPECTION_OPTIONS, type IntrospectionOptions } from './introspection.options.js';
import { IntrospectionUnavailableError } from './unavailable.error.js';

interface HttpRequest {
  readonly headers: { readonly authorization?: string };
  readonly id?: unknown;
  readonly raw?: { readonly id?: unknown };
}

/**
 * Lets a request pass with a valid access token, which `@CurrentToken()` then gives to the handler. Else it answers
 * as RFC 6750 3 says: 401 with a challenge, without an error code where no token was sent; 400 for a malformed
 * header; 503 with Retry-After when nobody can tell whether the token is good.
 */
@Injectable()
export class TokenGuard extends AuthGuard(ACCESS_TOKEN_STRATEGY) {
  constructor(@Inject(INTROSPECTION_OPTIONS) private readonly settings: IntrospectionOptions) {
    super();
  }

  override getRequest(context: ExecutionContext): BearerRequest {
    const { headers, raw, id } = context.switchToHttp().getRequest<HttpRequest>();
    const reference = raw?.id ?? id;
    return {
      headers: { authorization: headers.authorization },
      reference: typeof reference === 'string' ? reference : '',
    };
  }

  override handleRequest<T>(
    error: unknown,
    token: T | false,
    challenge: unknown,
    context: ExecutionContext,
    status?: unknown,
  ): T {
    if (error || !token) throw this.#refusal(error, challenge, status, context);
    context.switchToHttp().getRequest<{ token: T }>().token = token;
    return token;
  }

  #refusal(error: unknown, challenge: unknown, status: unknown, context: ExecutionContext): Error {
    const response = context.switchToHttp().getResponse<{ header(name: string, value: string): void }>();
    if (error instanceof IntrospectionUnavailableError) {
      response.header('Retry-After', '1');
      return new ServiceUnavailableException(
        'the token cannot be checked just now, repeat the request in a moment',
        { cause: error },
      );
    }
    if (error)
      return error instanceof Error
        ? error
        : new HttpException('the token could not be checked', 500, { cause: error });
    const refuse = (code: string | null, exception: Error) => {
      response.header('WWW-Authenticate', this.#challenge(code));
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
            'the access token is not valid: it may have expired or been revoked; refresh it',
          ),
        )
      : refuse(
          null,
          new UnauthorizedException('an access token is needed: Authorization: Bearer <access token>'),
        );
  }

  #challenge(error: string | null): string {
    const { resourceMetadata } = this.settings;
    const attributes = [
      error && `error="${error}"`,
      resourceMetadata && `resource_metadata="${resourceMetadata}"`,
    ].filter(Boolean);
    return ['Bearer', attributes.join(', ')].join(' ').trim();
  }
}
