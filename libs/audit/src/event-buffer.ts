import { AUDIT_KINDS, type AuditEvent, auditSubject } from './event.js';

/** An event has about 400 characters. */
const MAX_EVENTS = 20_000;
const MAX_CHARACTERS = 16_000_000;
/** Fill level up to which the buffer accepts a kind: any client can cause refusals, and any user can cause activity. */
const SHARES: readonly (readonly [prefix: string, share: number])[] = [
  [AUDIT_KINDS.refusals.prefix, 0.5],
  [AUDIT_KINDS.activity.prefix, 0.9],
  [AUDIT_KINDS.trail.prefix, 1],
];
/** Limit in characters, which have at most three bytes each. In our manifests, NATS accepts messages of 128 KB. */
const MAX_MESSAGE = 32_000;

/** Message with one event per line, identified by the id of the first event. */
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
 * Bounded buffer of events. Events of one type share a message, because separate messages cost four times the CPU in
 * this process and in NATS.
 */
export class EventBuffer {
  private messages: OpenMessage[] = [];
  /** Messages that accept more events, by subject. */
  private readonly open = new Map<string, OpenMessage>();
  private characters = 0;
  private count = 0;

  get size(): number {
    return this.count;
  }

  add(event: AuditEvent, line: string): boolean {
    const subject = auditSubject(event);
    const [, share = 1] = SHARES.find(([prefix]) => subject.startsWith(prefix)) ?? [];
    if (this.count >= MAX_EVENTS * share || this.characters + line.length > MAX_CHARACTERS * share)
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

  /** Returns the oldest messages of a kind. Closes all messages, so that a retry sends the same contents. */
  oldest(count: number, prefix: string): readonly AuditMessage[] {
    this.open.clear();
    return this.messages.filter(({ subject }) => subject.startsWith(prefix)).slice(0, count);
  }

  /** @returns the number of events in these messages */
  remove(stored: ReadonlySet<AuditMessage>): number {
    const before = this.count;
    this.messages = this.messages.filter((message) => !stored.has(message));
    this.count = this.messages.reduce((sum, { lines }) => sum + lines.length, 0);
    this.characters = this.messages.reduce((sum, { characters }) => sum + characters, 0);
    return before - this.count;
  }
}
