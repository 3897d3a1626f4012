import type { Msg } from '@nats-io/transport-node';
import { Logger } from '@nestjs/common';
import { type Broadcasts, SUBJECTS } from './contract.js';

/** Largest payload that is parsed. Valid messages have at most 4 KB. */
const MAX_BYTES = 16 * 1024;
const MAX_ID = 128;
const MAX_TOKEN = 1024;
/** The same limit as for the claims of a DPoP proof. */
const MAX_CLAIM = 256;

const LOG_INTERVAL_MS = 10_000;

type Fields = Readonly<Record<string, unknown>>;

const isText = (value: unknown, max: number): value is string =>
  typeof value === 'string' && value.length <= max;
const isThumbprint = (value: unknown): boolean => isText(value, 43) && /^[\w-]{43}$/.test(value);
/** Id of a grant or a client. */
const isId = (value: unknown): boolean => isText(value, 255) && /^[!-~]+$/.test(value);
/** A PostgreSQL `integer`. */
const isUserId = (value: unknown): boolean => typeof value === 'number' && (value | 0) === value;

const isProof = ({ jkt, jti, nonce, expires_at: expiresAt }: Fields): boolean =>
  isThumbprint(jkt) &&
  isText(jti, MAX_CLAIM) &&
  jti !== '' &&
  (nonce === undefined || isText(nonce, MAX_CLAIM)) &&
  Number.isFinite(expiresAt);

/** Validates the payload of each subject against its interface in contract.ts. Unknown fields are ignored. */
const CHECKS: Readonly<Record<string, (fields: Fields) => boolean>> = {
  [SUBJECTS.introspect]: ({ token, jkt, proof }) =>
    isText(token, MAX_TOKEN) &&
    (jkt === undefined || isThumbprint(jkt)) &&
    (proof === undefined || (isObject(proof) && isProof(proof))),
  [SUBJECTS.consumeProof]: isProof,
  [SUBJECTS.profile]: ({ user_id: id }) => isUserId(id),
  [SUBJECTS.applyRevocations]: ({ client_id: clientId, user_id: userId }) =>
    userId === undefined ? isId(clientId) : isUserId(userId) && clientId === undefined,
  [SUBJECTS.grantRevoked]: ({ grant_id: id }) => isId(id),
  [SUBJECTS.clientChanged]: ({ client_id: id }) => isId(id),
  [SUBJECTS.userChanged]: ({ user_id: id }) => isUserId(id),
};

/** A request whose data match its subject's interface in contract.ts. */
export interface NatsRequest {
  readonly id: string;
  readonly data: unknown;
}

/** A message that violates contract.ts. The error text never quotes the message. */
export class MalformedMessageError extends Error {
  /** @param id of the request, if it has one */
  constructor(
    problem: string,
    readonly id?: string,
  ) {
    super(problem);
    this.name = 'MalformedMessageError';
  }
}

/**
 * Whether the reply subject is an inbox. A reply to any other subject could pass for a broadcast of this service: one to
 * `oauth.grant.revoked` would empty every cache, whoever requested it.
 */
export function asksForReply({ reply = '' }: Msg): boolean {
  return reply.startsWith('_INBOX.');
}

/** @throws MalformedMessageError, also for a request whose reply subject is not an inbox */
export function readRequest(subject: string, message: Msg): NatsRequest {
  const { id, data } = parse(message);
  if (!isText(id, MAX_ID))
    throw new MalformedMessageError(`its id is missing or not a string of at most ${MAX_ID} characters`);
  if (!asksForReply(message)) throw new MalformedMessageError('its reply subject is not an inbox', id);
  if (!isValid(subject, data)) throw new MalformedMessageError('its data do not match the contract', id);
  return { id, data };
}

/** @throws MalformedMessageError */
export function readBroadcast<Subject extends keyof Broadcasts>(
  subject: Subject,
  message: Msg,
): Broadcasts[Subject] {
  const event: unknown = parse(message);
  if (isValid(subject, event)) return event as Broadcasts[Subject];
  throw new MalformedMessageError('it does not match the contract');
}

/** Logs refused messages: at most one line per subject every 10 s, so that a flood does not fill the log. */
export class MalformedMessageLog {
  private readonly logger = new Logger('NATS');
  private readonly subjects = new Map<string, { readonly writtenAt: number; readonly refused: number }>();

  /** @param subject a subject this process subscribed to, so that the map stays small */
  warn(subject: string, message: Msg, { message: problem }: MalformedMessageError): void {
    const now = performance.now();
    const { writtenAt, refused } = this.subjects.get(subject) ?? { writtenAt: -Infinity, refused: 0 };
    if (now - writtenAt < LOG_INTERVAL_MS) {
      this.subjects.set(subject, { writtenAt, refused: refused + 1 });
      return;
    }
    this.subjects.set(subject, { writtenAt: now, refused: 0 });
    const { length: bytes } = message.data;
    const msg = 'malformed NATS message refused';
    this.logger.warn({ subject, problem, bytes, refused_since_last_line: refused + 1, msg });
  }
}

function parse(message: Msg): Fields {
  if (message.data.length > MAX_BYTES)
    throw new MalformedMessageError(`it is larger than ${MAX_BYTES} bytes`);
  let value: unknown;
  try {
    value = message.json();
  } catch {
    throw new MalformedMessageError('it is not JSON');
  }
  if (isObject(value)) return value;
  throw new MalformedMessageError('it is not a JSON object');
}

function isValid(subject: string, data: unknown): boolean {
  return isObject(data) && CHECKS[subject]?.(data) === true;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}
