import { isObject } from '#messaging/nats-message.js';
import { isDeeperThan } from '#platform/json-depth.js';
import { AUDIT_KINDS, type AuditEvent, auditSubject } from './event.js';

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
