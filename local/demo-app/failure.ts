import type { FastifyError } from 'fastify';
import type { Message } from './page/message-page.js';

/** An error page for the user: what happened, and what to do. Contains no token. */
export class Failure extends Error {
  constructor(
    readonly status: number,
    readonly page: Message,
    /** For the log: error codes and references, never the request. */
    readonly log: Readonly<Record<string, unknown>> = {},
  ) {
    super(page.title);
    this.name = 'Failure';
  }
}

/** An authorization response that does not belong to a request of this browser. */
export function unexpectedAnswer(): Failure {
  return new Failure(400, {
    title: 'This response is not valid',
    text: 'It was already used, or it belongs to another browser or service. Please connect again.',
  });
}

/** The page and the log line of an error. The browser sees no details of an error other than a Failure. */
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
