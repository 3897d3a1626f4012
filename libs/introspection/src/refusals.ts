import {
  BadRequestException,
  ForbiddenException,
  Inject,
  Injectable,
  Logger,
  ServiceUnavailableException,
  UnauthorizedException,
} from '@nestjs/common';
import { DPOP_ALGORITHMS } from '#oauth/dpop/public-key.js';
import { DependencyUnavailableError } from '#platform/dependency-unavailable.error.js';
import { INTROSPECTION_OPTIONS, type IntrospectionOptions } from './introspection.options.js';

/** The part of a response that a refusal needs, in Fastify as in Express. */
export interface ChallengedResponse {
  header(name: string, value: string): void;
}

/** The error codes of RFC 6750 3.1 and RFC 9449 7.1 and 9. */
type DpopErrorCode = 'invalid_request' | 'invalid_token' | 'invalid_dpop_proof' | 'use_dpop_nonce';

/** A request with a DPoP token is refused. The message is for the client. */
export class DpopRefusedError extends Error {
  /** Value for the DPoP-Nonce header, if there is one. */
  readonly nonce: string | undefined;

  constructor(
    readonly code: DpopErrorCode,
    message: string,
    { nonce, cause }: { readonly nonce?: string | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.name = 'DpopRefusedError';
    this.nonce = nonce;
  }
}

const WARNING_INTERVAL_MS = 10_000;

/** Answers to refused requests: each method sets the headers of the response and returns the exception to throw. */
@Injectable()
export class Refusals {
  private readonly logger = new Logger('Introspection');
  private warnedAt = -Infinity;

  constructor(@Inject(INTROSPECTION_OPTIONS) private readonly options: IntrospectionOptions) {}

  /** RFC 6750 3: a request without a token gets a challenge without an error code. */
  missingToken(response: ChallengedResponse): Error {
    response.header('WWW-Authenticate', this.bearerChallenge(null));
    return new UnauthorizedException('an access token is needed: Authorization: Bearer <access token>');
  }

  malformedHeader(response: ChallengedResponse): Error {
    response.header('WWW-Authenticate', this.bearerChallenge('invalid_request'));
    return new BadRequestException('the Authorization header must be: Bearer <access token>');
  }

  invalidToken(
    response: ChallengedResponse,
    message = 'the access token is not valid: it may have expired or been revoked, or it is bound to a key (DPoP); refresh it or, if that is refused, ask the user to authorize again',
  ): Error {
    response.header('WWW-Authenticate', this.bearerChallenge('invalid_token'));
    return new UnauthorizedException(message);
  }

  /** RFC 6750 3.1: "The request requires higher privileges than provided by the access token": 403. */
  insufficientScope(response: ChallengedResponse, scope: string, isBound: boolean): Error {
    const code = 'insufficient_scope';
    const challenge = isBound ? this.dpopChallenge(code, scope) : this.bearerChallenge(code, scope);
    response.header('WWW-Authenticate', challenge);
    return new ForbiddenException(
      `the access token needs the scope ${scope}: ask the user to authorize again with it`,
    );
  }

  /** RFC 9449 7.1 and 9. */
  dpop(response: ChallengedResponse, error: unknown): unknown {
    if (!(error instanceof DpopRefusedError)) return this.failure(response, error);
    response.header('WWW-Authenticate', this.dpopChallenge(error.code));
    if (error.nonce !== undefined) response.header('DPoP-Nonce', error.nonce);
    return error.code === 'invalid_request'
      ? new BadRequestException(error.message, { cause: error })
      : new UnauthorizedException(error.message, { cause: error });
  }

  /** The token could not be checked: 503 while the token app does not answer; any other error is returned as it is. */
  failure(response: ChallengedResponse, error: unknown): unknown {
    if (!(error instanceof DependencyUnavailableError)) return error;
    response.header('Retry-After', '1');
    this.warn(error);
    return new ServiceUnavailableException(
      'the token cannot be checked just now, repeat the request in a moment',
      { cause: error },
    );
  }

  /** At most once every 10 s: Nest logs no HTTP exception, and without the cause nobody knows what to repair. */
  private warn({ message }: DependencyUnavailableError): void {
    const now = performance.now();
    if (now - this.warnedAt < WARNING_INTERVAL_MS) return;
    this.warnedAt = now;
    this.logger.warn(`requests get 503, because their tokens cannot be checked: ${message}`);
  }

  /**
   * WWW-Authenticate for a request without a token, or with a bearer token (RFC 6750 3): both schemes, with the error at
   * Bearer.
   *
   * @param scope that the resource requires, space-separated, when the token lacks it
   */
  private bearerChallenge(error: string | null, scope?: string): string {
    const { resourceMetadata, resourceUrl } = this.options;
    const bearer = challenge('Bearer', {
      // RFC 6750 3: the scheme "MUST be followed by one or more auth-param values".
      realm: resourceMetadata === undefined ? 'oauth' : null,
      error,
      scope,
      // RFC 9728 5.1
      resource_metadata: resourceMetadata,
    });
    return resourceUrl === undefined ? bearer : `${bearer}, ${this.dpopChallenge(null)}`;
  }

  /** For a request with a DPoP token: DPoP only, so that its client does not fall back to bearer tokens. */
  private dpopChallenge(error: string | null, scope?: string): string {
    return challenge('DPoP', {
      error,
      scope,
      // RFC 9449 7.1: "a space-delimited list containing the JWS algorithms acceptable for the DPoP proof JWT"
      algs: DPOP_ALGORITHMS.join(' '),
      resource_metadata: this.options.resourceMetadata,
    });
  }
}

function challenge(scheme: string, attributes: Readonly<Record<string, string | null | undefined>>): string {
  const present = Object.entries(attributes).filter(([, value]) => typeof value === 'string');
  return `${scheme} ${present.map(([name, value]) => `${name}="${value}"`).join(', ')}`;
}
