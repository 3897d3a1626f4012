import { isUtf8 } from 'node:buffer';
import type { Msg, NatsConnection as NatsClient } from '@nats-io/transport-node';
import { Logger } from '@nestjs/common';
import { messageOf } from '#platform/errors.js';

/** Header with the caller's request id, which correlates the logs of both services. */
export const REFERENCE_HEADER = 'reference';

/** Maximum size of a payload in bytes. */
const MAX_BYTES = 16 * 1024;
const MAX_ID = 128;
const LOG_INTERVAL_MS = 10_000;

export type Fields = Readonly<Record<string, unknown>>;

/** Request in Nest's packet format. */
export interface NatsRequest {
  readonly id: string;
  readonly data: unknown;
}

/** Thrown for a message that violates its contract. The error text never quotes the message. */
export class MalformedMessageError extends Error {
  /** @param id id of the request; undefined if the request has no valid id */
  constructor(
    problem: string,
    readonly id?: string,
  ) {
    super(problem);
    this.name = 'MalformedMessageError';
  }
}

/** @throws MalformedMessageError unless the payload is a JSON object of at most 16 KiB */
export function readObject(message: Msg): Fields {
  if (message.data.length > MAX_BYTES)
    throw new MalformedMessageError(`it is larger than ${MAX_BYTES} bytes`);
  // RFC 8259 8.1. A decoder would replace other bytes silently.
  if (!isUtf8(message.data)) throw new MalformedMessageError('it is not UTF-8');
  let value: unknown;
  try {
    value = message.json();
  } catch {
    throw new MalformedMessageError('it is not JSON');
  }
  if (isObject(value)) return value;
  throw new MalformedMessageError('it is not a JSON object');
}

/** @throws MalformedMessageError if the payload, id or data are invalid, or the reply subject is not an inbox */
export function readRequest(message: Msg, isValid: (data: unknown) => boolean): NatsRequest {
  const { id, data } = readObject(message);
  if (typeof id !== 'string' || id.length > MAX_ID)
    throw new MalformedMessageError(`its id is missing or not a string of at most ${MAX_ID} characters`);
  if (!expectsReply(message)) throw new MalformedMessageError('its reply subject is not an inbox', id);
  if (!isValid(data)) throw new MalformedMessageError('its data do not match the contract', id);
  return { id, data };
}

/** Accepts only inboxes, because a reply to a subject such as `oauth.grant.revoked` would be a broadcast. */
export function expectsReply({ reply = '' }: Msg): boolean {
  return reply.startsWith('_INBOX.');
}

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

/** Logs malformed messages, at most one line per subject every 10 s. */
export class MalformedMessageLog {
  private readonly logger = new Logger('NATS');
  private readonly subjects = new Map<string, { readonly writtenAt: number; readonly refused: number }>();

  /** @param subject must be a subject that this process subscribes to, so that the map stays small */
  warn(subject: string, message: Msg, { message: problem }: MalformedMessageError): void {
    const now = performance.now();
    const { writtenAt, refused } = this.subjects.get(subject) ?? { writtenAt: -Infinity, refused: 0 };
    if (now - writtenAt < LOG_INTERVAL_MS) {
      this.subjects.set(subject, { writtenAt, refused: refused + 1 });
      return;
    }
    this.subjects.set(subject, { writtenAt: now, refused: 0 });
    const { length: bytes } = message.data;
    const msg = 'rejected a malformed NATS message';
    this.logger.warn({ subject, problem, bytes, refused_since_last_line: refused + 1, msg });
  }
}

const logger = new Logger('NATS');

type Answer = (message: Msg) => Promise<object>;

/** Replies in plain JSON. Sends no reply if `answer` fails. Without a queue group, every process gets every request. */
export function respond(nats: NatsClient, subject: string, answer: Answer, queue?: string): void {
  nats.subscribe(subject, {
    ...(queue !== undefined && { queue }),
    callback: (error, message) => {
      if (error) logger.error(`NATS: ${error.message}`);
      else if (expectsReply(message)) void reply(message, answer);
    },
  });
}

async function reply(message: Msg, answer: Answer): Promise<void> {
  try {
    message.respond(JSON.stringify(await answer(message)));
  } catch (error) {
    logger.error(`${message.subject}: ${messageOf(error)}`);
  }
}
