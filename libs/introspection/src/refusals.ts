import {
  BadRequestException,
  ForbiddenException,
  HttpException,
  Injectable,
  ServiceUnavailableException,
  UnauthorizedException,
} from '@nestjs/common';
import { Challenges } from './challenges.js';
import { DpopRefusedError } from './dpop/dpop-refused.error.js';
import { IntrospectionUnavailableError } from '#platform/nats/unavailable.error.js';

/** What a refusal needs of a response, in Fastify as in Express. */
export interface ChallengedResponse {
  header(name: string, value: string): void;
}

/** How requests are refused: each method puts the challenge on the response and returns what to throw. */
@Injectable()
export class Refusals {
  constructor(private readonly challenges: Challenges) {}

  /** @param challenge and status as passport-http-bearer gives them */
  ofBearer(challenge: unknown, status: unknown, response: ChallengedResponse): Error {
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
            'the access token is not valid: it may have expired or been revoked, or it is bound to a key (DPoP); refresh it or, if that is refused, ask the user to authorize again',
          ),
        )
      : refuse(
          null,
          new UnauthorizedException('an access token is needed: Authorization: Bearer <access token>'),
        );
  }

  /** RFC 9449 7.1 and 9. */
  ofDpop(error: unknown, response: ChallengedResponse): Error {
    if (!(error instanceof DpopRefusedError)) return this.ofFailure(error, response);
    response.header('WWW-Authenticate', this.challenges.dpop(error.code));
    if (error.nonce !== undefined) response.header('DPoP-Nonce', error.nonce);
    return error.code === 'invalid_request'
      ? new BadRequestException(error.message, { cause: error })
      : new UnauthorizedException(error.message, { cause: error });
  }

  /** RFC 6750 3.1: "The request requires higher privileges than provided by the access token": 403. */
  ofScope(scope: string, scheme: 'bearer' | 'dpop', response: ChallengedResponse): Error {
    response.header('WWW-Authenticate', this.challenges[scheme]('insufficient_scope', scope));
    return new ForbiddenException(
      `the access token needs the scope ${scope}: ask the user to authorize again with it`,
    );
  }

  /** Nobody could tell whether the token is good. */
  ofFailure(error: unknown, response: ChallengedResponse): Error {
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
}
