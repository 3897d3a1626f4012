import { AUDIT_KINDS, type AuditEvent, auditSubject } from './event.js';

/** Limits of the buffer. An event has about 400 characters. */
const MAX_EVENTS = 20_000;
const MAX_CHARACTERS = 16_000_000;
/** Part of the buffer that the events of each kind may fill: any client can cause refusals, and any user activity. */
const PARTS: readonly (readonly [prefix: string, part: number])[] = [
  [AUDIT_KINDS.refusals.prefix, 0.5],
  [AUDIT_KINDS.activity.prefix, 0.9],
  [AUDIT_KINDS.trail.prefix, 1],
];
/** In characters, of at most three bytes each. The NATS of our manifests permits 128 KB. */
const MAX_MESSAGE = 32_000;

/** A message as it is sent: one event per line. Its id is that of the first one. */
export interface AuditMessage {
  readonly id: string;
  readonly subject: string;
  readonly lines: readonly string[];
}

interface OpenMessage extends AuditMessage {
  readonly lines: string[];
  characters: number;
}

/**
 * Events that wait for NATS, bounded. Those of one type that wait together share a message: a message of its own for each costs
 * four times the CPU, here and in NATS.
 */
export class EventBuffer {
  private messages: OpenMessage[] = [];
  /** By subject, the message that takes more events. */
  private readonly open = new Map<string, OpenMessage>();
  private characters = 0;
  private count = 0;

  /** The number of events. */
  get size(): number {
    return this.count;
  }

  /** @returns false if the buffer is full */
  add(event: AuditEvent, line: string): boolean {
    const subject = auditSubject(event);
    const [, part = 1] = PARTS.find(([prefix]) => subject.startsWith(prefix)) ?? [];
    if (this.count >= MAX_EVENTS * part || this.characters + line.length > MAX_CHARACTERS * part)
      return false;
    let message = this.open.get(subject);
    if (!message || message.characters + line.length > MAX_MESSAGE) {
      message = { id: event.id, subject, lines: [], characters: 0 };
      this.open.set(subject, message);
      this.messages.push(message);
    }
    message.lines.push(line);
    message.characters += line.length;
    this.characters += line.length;
    this.count += 1;
    return true;
  }

  /**
   * The oldest messages of one kind, which stay in the buffer. They accept no further events, so that a repeated message is the same.
   *
   * @param prefix of the subjects of the kind
   */
  oldest(count: number, prefix: string): readonly AuditMessage[] {
    this.open.clear();
    return this.messages.filter(({ subject }) => subject.startsWith(prefix)).slice(0, count);
  }

  /** @returns the number of events that were in these messages */
  remove(stored: ReadonlySet<AuditMessage>): number {
    const before = this.count;
    this.messages = this.messages.filter((message) => !stored.has(message));
    this.count = this.messages.reduce((sum, { lines }) => sum + lines.length, 0);
    this.characters = this.messages.reduce((sum, { characters }) => sum + characters, 0);
    return before - this.count;
  }
}
