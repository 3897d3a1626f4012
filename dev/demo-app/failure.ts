import type { FastifyError } from 'fastify';
import type { Message } from './page/message-page.js';

/** Something went wrong that a person must read about: what happened, and what to do. Never with a token in it. */
export class Failure extends Error {
  constructor(
    readonly status: number,
    readonly page: Message,
    /** For the developer's log: error codes and references, never what was sent. */
    readonly log: Readonly<Record<string, unknown>> = {},
  ) {
    super(page.title);
    this.name = 'Failure';
  }
}

/** An authorization answer that this browser, or this application, did not ask for. */
export function unexpectedAnswer(): Failure {
  return new Failure(400, {
    title: 'We did not expect this answer',
    text: 'It was used already, or it belongs to another browser or another service. Please connect again.',
  });
}

/** The page and the log line of any error; what is not a Failure says nothing about itself to the browser. */
export function describeFailure(error: unknown): {
  status: number;
  message: Message;
  log: Readonly<Record<string, unknown>>;
} {
  if (error instanceof Failure) return { status: error.status, message: error.page, log: error.log };
  const { statusCode = 500, code, name } = error as Partial<FastifyError>;
  if (statusCode < 500) {
    const message = { title: 'This did not work', text: 'Your browser sent something we cannot read.' };
    return { status: statusCode, message, log: { code } };
  }
  const message = {
    title: 'Something went wrong',
    text: 'The mistake is ours. Your calendar is not affected; please try again in a moment.',
  };
  return { status: 500, message, log: { code, name, stack: (error as Error).stack } };
}
