import {
  BadRequestException,
  ForbiddenException,
  type HttpException,
  Inject,
  Injectable,
  Logger,
  ServiceUnavailableException,
  UnauthorizedException,
} from '@nestjs/common';
import { DPOP_ALGORITHMS } from '#oauth/dpop/dpop-verifier.js';
import type { ErrorDetail } from '#oauth/oauth-error.js';
import { DependencyUnavailableError } from '#platform/errors.js';
import { INTROSPECTION_OPTIONS, type IntrospectionOptions } from './introspection.options.js';
import { type AnyToken, isOfUser } from './introspector.js';

/** Response of Fastify or Express. */
export interface ChallengedResponse {
  header(name: string, value: string): void;
}

/** Error codes of RFC 6750 3.1, RFC 9449 7.1 and RFC 9449 9. */
type RefusalCode =
  'invalid_request' | 'invalid_token' | 'insufficient_scope' | 'invalid_dpop_proof' | 'use_dpop_nonce';

interface RefusalOptions {
  /** Failed check and compared values for the operator. Must not contain a credential. */
  readonly detail: ErrorDetail;
  readonly nonce?: string | undefined;
  readonly cause?: unknown;
}

/** Refusal of a request, and the cause of its HTTP exception. The message is for the client. */
export class TokenRefusedError extends Error {
  readonly detail: ErrorDetail;
  readonly nonce: string | undefined;

  constructor(
    readonly code: RefusalCode,
    message: string,
    { detail, nonce, cause }: RefusalOptions,
  ) {
    super(message, { cause });
    this.name = 'TokenRefusedError';
    this.detail = detail;
    this.nonce = nonce;
  }
}

/** Values that the challenge of a route contains (RFC 6750 3, RFC 9728 5.1). */
export interface ProtectedRoute {
  /** Required scopes, space-separated. */
  readonly scope?: string | undefined;
  /** URL or path of the metadata; by default the option `resourceMetadata`. */
  readonly metadata?: string | undefined;
  /** True if the route accepts only tokens of `client_credentials`, which have no user and no refresh token. */
  readonly isForClients?: boolean | undefined;
}

const WARNING_INTERVAL_MS = 10_000;

/** Each public method sets the headers of the response and returns the exception to throw. */
@Injectable()
export class Refusals {
  private readonly logger = new Logger('Introspection');
  private warnedAt = -Infinity;

  constructor(@Inject(INTROSPECTION_OPTIONS) private readonly options: IntrospectionOptions) {}

  /** RFC 6750 3.1: the challenge to a request without a token contains no error code. */
  missingToken(response: ChallengedResponse, route: ProtectedRoute): Error {
    response.header('WWW-Authenticate', this.bearerChallenge(null, route));
    return exception(
      new TokenRefusedError(
        'invalid_token',
        'an access token is required: Authorization: Bearer <access token>',
        { detail: { check: 'access_token_missing' } },
      ),
    );
  }

  malformedHeader(response: ChallengedResponse, route: ProtectedRoute): Error {
    response.header('WWW-Authenticate', this.bearerChallenge('invalid_request', route));
    return exception(
      new TokenRefusedError('invalid_request', 'the Authorization header must be: Bearer <access token>', {
        detail: { check: 'authorization_header_malformed' },
      }),
    );
  }

  /** RFC 6750 3.1: "uses more than one method for including an access token" is invalid_request. */
  repeatedToken(response: ChallengedResponse, route: ProtectedRoute): Error {
    response.header('WWW-Authenticate', this.bearerChallenge('invalid_request', route));
    return exception(
      new TokenRefusedError(
        'invalid_request',
        'send one access token: in the Authorization header or once in the body',
        { detail: { check: 'access_token_repeated' } },
      ),
    );
  }

  invalidToken(
    response: ChallengedResponse,
    route: ProtectedRoute,
    message = `the access token is not valid: it may have expired or been revoked, or it is bound to a key (DPoP); ${remedyOf(route)}`,
  ): Error {
    response.header('WWW-Authenticate', this.bearerChallenge('invalid_token', route));
    return exception(
      new TokenRefusedError('invalid_token', message, { detail: { check: 'access_token_inactive' } }),
    );
  }

  /** Rejects a token without a user on a route for users, and a user's token on a route for clients. */
  wrongSubject(response: ChallengedResponse, route: ProtectedRoute, token: AnyToken): Error {
    const code = 'invalid_token';
    response.header('WWW-Authenticate', this.challengeFor(code, route, token));
    const { clientId, grantId, userId } = token;
    const [check, message] = isOfUser(token)
      ? (['token_of_user', 'this API accepts only tokens of the grant type client_credentials'] as const)
      : (['token_without_user', 'this API needs the access token of a user, and this one has none'] as const);
    return exception(
      new TokenRefusedError(code, message, {
        detail: {
          check,
          client_id: clientId,
          grant_id: grantId,
          ...(userId !== null && { user_id: userId }),
        },
      }),
    );
  }

  /** RFC 6750 3.1 recommends 403 if "the request requires higher privileges than provided by the access token". */
  insufficientScope(response: ChallengedResponse, route: ProtectedRoute, token: AnyToken): Error {
    const code = 'insufficient_scope';
    const { scope } = route;
    response.header('WWW-Authenticate', this.challengeFor(code, route, token));
    const { clientId, grantId, userId, scopes } = token;
    return exception(
      new TokenRefusedError(
        code,
        `the access token needs the scope ${scope}: ${userId === null ? 'request one' : 'ask the user to authorize again'} with it`,
        {
          detail: {
            check: 'scope_insufficient',
            client_id: clientId,
            grant_id: grantId,
            ...(userId !== null && { user_id: userId }),
            sent: scopes.join(' '),
            expected: scope,
          },
        },
      ),
    );
  }

  dpop(response: ChallengedResponse, route: ProtectedRoute, error: unknown): unknown {
    if (!(error instanceof TokenRefusedError)) return this.failure(response, error);
    const { code, message, detail, nonce } = error;
    response.header('WWW-Authenticate', this.dpopChallenge(code, route));
    if (nonce !== undefined) response.header('DPoP-Nonce', nonce);
    if (detail['check'] !== 'access_token_inactive') return exception(error);
    return exception(new TokenRefusedError(code, `${message}; ${remedyOf(route)}`, { detail, nonce }));
  }

  /** Returns 503 if the token app is unavailable, and any other error unchanged. */
  failure(response: ChallengedResponse, error: unknown): unknown {
    if (!(error instanceof DependencyUnavailableError)) return error;
    response.header('Retry-After', '1');
    this.warn(error);
    return new ServiceUnavailableException('the token cannot be checked right now; retry in a moment', {
      cause: error,
    });
  }

  /** Logs the cause, because Nest does not log HTTP exceptions. */
  private warn({ message }: DependencyUnavailableError): void {
    const now = performance.now();
    if (now - this.warnedAt < WARNING_INTERVAL_MS) return;
    this.warnedAt = now;
    this.logger.warn(`requests get 503 because their tokens cannot be checked: ${message}`);
  }

  private challengeFor(error: RefusalCode, route: ProtectedRoute, { jkt }: AnyToken): string {
    return jkt === null ? this.bearerChallenge(error, route) : this.dpopChallenge(error, route);
  }

  /**
   * Returns the challenge for a bearer token or no token (RFC 6750 3): Bearer with the error and, if `resourceUrl` is
   * set, DPoP without the error.
   */
  private bearerChallenge(error: string | null, route: ProtectedRoute): string {
    const metadata = this.metadataOf(route);
    const bearer = challenge('Bearer', {
      // RFC 6750 3: the scheme "MUST be followed by one or more auth-param values".
      realm: metadata === undefined ? 'oauth' : null,
      error,
      scope: route.scope,
      resource_metadata: metadata,
    });
    return this.options.resourceUrl === undefined ? bearer : `${bearer}, ${this.dpopChallenge(null, route)}`;
  }

  /**
   * Returns the DPoP challenge. A DPoP token gets no Bearer challenge, so that clients do not fall back to bearer
   * tokens.
   */
  private dpopChallenge(error: string | null, route: ProtectedRoute): string {
    return challenge('DPoP', {
      error,
      scope: route.scope,
      // RFC 9449 7.1: "a space-delimited list of JWS alg (Algorithm) header values"
      algs: DPOP_ALGORITHMS.join(' '),
      resource_metadata: this.metadataOf(route),
    });
  }

  private metadataOf({ metadata }: ProtectedRoute): string | undefined {
    const { resourceMetadata, resourceUrl } = this.options;
    if (metadata === undefined) return resourceMetadata;
    const base = resourceUrl ?? resourceMetadata;
    return new URL(metadata, base).href;
  }
}

const remedyOf = ({ isForClients = false }: ProtectedRoute): string =>
  isForClients ? 'request a new one' : 'refresh it or, if that is refused, ask the user to authorize again';

function exception(cause: TokenRefusedError): HttpException {
  const { code, message } = cause;
  if (code === 'invalid_request') return new BadRequestException(message, { cause });
  if (code === 'insufficient_scope') return new ForbiddenException(message, { cause });
  return new UnauthorizedException(message, { cause });
}

function challenge(scheme: string, attributes: Readonly<Record<string, string | null | undefined>>): string {
  const present = Object.entries(attributes).filter(([, value]) => typeof value === 'string');
  return `${scheme} ${present.map(([name, value]) => `${name}="${value}"`).join(', ')}`;
}
