import type { FastifyError } from 'fastify';
import { AuthorizationResponseError, ResponseBodyError } from 'openid-client';

export interface Message {
  title: string;
  text: string;
  csrfToken?: string;
}

/** Error that is shown as a page. Contains no token. */
export class Failure extends Error {
  constructor(
    readonly status: number,
    readonly page: Message,
    /** Fields for the log, such as an error code and reference, but never the request. */
    readonly log: Readonly<Record<string, unknown>> = {},
  ) {
    super(page.title);
    this.name = 'Failure';
  }
}

export function unexpectedAnswer(): Failure {
  return new Failure(400, {
    title: 'This response is not valid',
    text: 'It was already used, or it belongs to another browser or service. Please connect again.',
  });
}

/** Returns the status, page and log fields of an error. The page contains details only for a Failure. */
export function describeFailure(error: unknown): {
  status: number;
  message: Message;
  log: Readonly<Record<string, unknown>>;
} {
  if (error instanceof Failure) return { status: error.status, message: error.page, log: error.log };
  const { statusCode = 500, code, name } = error as Partial<FastifyError>;
  if (statusCode < 500) {
    const message = { title: 'Bad request', text: 'We could not read the request that your browser sent.' };
    return { status: statusCode, message, log: { code } };
  }
  const message = {
    title: 'Something went wrong',
    text: 'Your calendar is not affected. Please try again in a moment.',
  };
  return { status: 500, message, log: { code, name, stack: (error as Error).stack } };
}

type Operation = 'connect' | 'refresh' | 'revoke' | 'me';

const ENDED = {
  connect: {
    title: 'The connection timed out',
    text: 'The authorization code has expired or was already used. Please connect again.',
  },
  refresh: {
    title: 'Your calendar is no longer connected',
    text: 'Our access has expired or was removed. You can connect again at any time.',
  },
};

/**
 * Converts an error of a request to a Failure, without the library's error, which contains the request.
 *
 * @returns a Failure with the OAuth error code, if any, in `log.error`
 */
export function toFailure(operation: Operation, error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof AuthorizationResponseError) return refusedAtConsent(error);
  if (error instanceof ResponseBodyError) return refusedByServer(operation, error);
  const { name, code, cause } = error as { name?: string; code?: string; cause?: unknown };
  const status = cause instanceof Response ? cause.status : undefined;
  return new Failure(
    operation === 'revoke' && status === 404 ? 404 : 502,
    {
      title: 'Scheduling is not responding',
      text: 'Please try again in a moment.',
    },
    { operation, name, code, answered: status, reason: (cause as { code?: string } | undefined)?.code },
  );
}

/** Converts an error of the authorization endpoint (RFC 6749 4.1.2.1). */
function refusedAtConsent({ error }: AuthorizationResponseError): Failure {
  return new Failure(
    error === 'temporarily_unavailable' || error === 'server_error' ? 502 : 400,
    {
      title:
        error === 'access_denied' ? 'Your calendar is not connected' : 'Scheduling rejected the connection',
      text: `Scheduling returned the error “${oneWord(error)}”. Please try again. If this keeps happening, contact us.`,
    },
    { operation: 'connect', error: oneWord(error) },
  );
}

/** Converts an error of the token endpoint (RFC 6749 5.2). */
function refusedByServer(operation: Operation, { error, status, cause }: ResponseBodyError): Failure {
  const log = {
    operation,
    error: oneWord(error),
    answered: status,
    reference: oneWord(cause['error_reference']),
  };
  if (error === 'invalid_grant' && (operation === 'connect' || operation === 'refresh')) {
    return new Failure(400, ENDED[operation], log);
  }
  return new Failure(
    operation === 'revoke' && status === 404 ? 404 : 502,
    {
      title: 'Scheduling rejected our request',
      text: `Scheduling returned the error “${log.error}”. Please contact us and include the reference ${log.reference}.`,
    },
    log,
  );
}

/** Returns a code or a reference, which is a short word. Replaces any other text from the network. */
function oneWord(value: unknown): string {
  return typeof value === 'string' && /^[\w.:-]{1,64}$/.test(value) ? value : '(none)';
}
