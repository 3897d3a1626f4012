import { isObject } from '#messaging/nats-message.js';
import { isDeeperThan } from '#platform/json.js';
import { AUDIT_KINDS, type AuditEvent, auditSubject } from './event.js';

/**
 * Minimum number of remembered ids. Duplicates are close together: a process resends unconfirmed events as soon as NATS
 * is available.
 */
const REMEMBERED = 200_000;

/**
 * Maximum milliseconds by which a stream is out of order, unless NATS was unavailable: processes send batches, and
 * retry every second.
 */
const DISORDER_MS = 5_000;
const SORTED_TOGETHER = 1_000;

/** Sorts a nearly ordered stream of events by time, in bounded memory. */
export async function* sorted(events: AsyncIterable<AuditEvent>): AsyncGenerator<AuditEvent> {
  const waiting: AuditEvent[] = [];
  let newest = '';
  let next = SORTED_TOGETHER;
  for await (const event of events) {
    waiting.push(event);
    if (event.time > newest) newest = event.time;
    if (waiting.length < next) continue;
    waiting.sort(byTime);
    const settled = new Date(Date.parse(newest) - DISORDER_MS).toISOString();
    const first = waiting.findIndex(({ time }) => time >= settled);
    yield* waiting.splice(0, first);
    next = 2 * Math.max(waiting.length, SORTED_TOGETHER);
  }
  yield* waiting.sort(byTime);
}

/** Compares times as text, because all times are ISO 8601 in UTC with milliseconds. */
export const byTime = (a: AuditEvent, b: AuditEvent): number =>
  a.time < b.time ? -1 : a.time > b.time ? 1 : 0;

export async function* inOrder(streams: readonly AsyncGenerator<AuditEvent>[]): AsyncGenerator<AuditEvent> {
  const next = await Promise.all(streams.map((stream) => stream.next()));
  for (;;) {
    let oldest = -1;
    let time = '';
    next.forEach((result, index) => {
      if (result.done || (oldest >= 0 && result.value.time >= time)) return;
      oldest = index;
      time = result.value.time;
    });
    const [result, stream] = [next[oldest], streams[oldest]];
    if (!stream || !result || result.done) return;
    yield result.value;
    next[oldest] = await stream.next();
  }
}

/** Ids per service, because another service could use the id of an event to hide the event. */
export class RecentIds {
  private current = new Set<string>();
  private previous = new Set<string>();

  add(event: Pick<AuditEvent, 'service' | 'id'>): boolean {
    const id = `${event.service}.${event.id}`;
    if (this.current.has(id) || this.previous.has(id)) return false;
    if (this.current.size >= REMEMBERED) {
      this.previous = this.current;
      this.current = new Set();
    }
    this.current.add(id);
    return true;
  }
}

/** Skips lines that are not events or do not match the subject, because other programs may publish to the subject. */
export function parseEvents(text: string, subject: string): AuditEvent[] {
  return text
    .split('\n')
    .map((line) => parseEvent(line, subject))
    .filter((event) => event !== null);
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function parseEvent(line: string, subject: string): AuditEvent | null {
  try {
    const event: unknown = JSON.parse(line);
    return isEvent(event) && isPublishable(event, subject) ? event : null;
  } catch {
    return null;
  }
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isOptionalText: Check = (value) => value === undefined || isText(value);
const isOptionalNumber: Check = (value) => value === undefined || typeof value === 'number';

/** Rejects events with an invalid field, which would break every search until NATS deletes the event. */
const CHECKS: Readonly<Record<keyof AuditEvent, Check>> = {
  version: (value) => typeof value === 'number',
  id: isText,
  // The pattern alone accepts month 13.
  time: (value) => isText(value) && TIME.test(value as string) && !Number.isNaN(Date.parse(value as string)),
  type: isText,
  service: isText,
  reference: isOptionalText,
  client_id: isOptionalText,
  user_id: isOptionalNumber,
  grant_id: isOptionalText,
  operator: isOptionalText,
  channel: isOptionalText,
  request: (value) =>
    value === undefined || (isObject(value) && isText(value['method']) && isText(value['path'])),
  address: isOptionalText,
  user_agent: isOptionalText,
  status: isOptionalNumber,
  error: isOptionalText,
  check: isOptionalText,
  description: isOptionalText,
  detail: (value) => value === undefined || isObject(value),
  changes: (value) => value === undefined || (isObject(value) && Object.values(value).every(isObject)),
};

const FIELDS = Object.entries(CHECKS);

function isEvent(value: unknown): value is AuditEvent {
  return (
    isObject(value) && FIELDS.every(([name, check]) => check(value[name])) && !isDeeperThan(MAX_LEVELS, value)
  );
}

/** Limit of nested levels, far above the nesting of our events. */
const MAX_LEVELS = 32;

/**
 * Requires that service and type match the subject, which NATS permissions control. Only the service `operator` may
 * name an operator. Accepts unknown types, which a later version may add.
 */
function isPublishable(event: AuditEvent, subject: string): boolean {
  const { service, type, operator } = event;
  if (operator !== undefined && service !== 'operator') return false;
  const known = auditSubject(event);
  if (known !== '') return subject === known;
  return Object.values(AUDIT_KINDS).some(({ prefix }) => subject === `${prefix}${service}.${type}`);
}
