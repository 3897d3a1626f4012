import type { ServiceStatus } from '#platform/status/status-report.js';
import { isObject, MalformedMessageError } from './nats-message.js';

export const STATUS_SERVICES = ['authorize', 'token', 'resource', 'console', 'developers'] as const;

/** Returns the subject of status requests, which contain no payload. NATS permits only this service to reply. */
export function statusSubject(service: string): string {
  return `oauth.service.status.${service}`;
}

/** Returns the inbox, without its random suffix, to which a service's processes may reply. */
export function statusInbox(inboxPrefix: string, service: string): string {
  return `${inboxPrefix}.status.${service}`;
}

/** Validates a reply. Keeps unknown fields, which a later version may send. @throws MalformedMessageError */
export function parseServiceStatus(answer: unknown): ServiceStatus {
  if (isObject(answer) && isServiceStatus(answer)) return answer;
  throw new MalformedMessageError('it does not match the contract');
}

type Fields = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isCount: Check = (value) => Number.isInteger(value);
const isTime: Check = (value) => isText(value) && !Number.isNaN(Date.parse(value as string));

const has =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isObject(value) && Object.entries(fields).every(([name, check]) => check(value[name]));

const PARTS: Readonly<Record<string, Check>> = {
  missing: (value) => isObject(value) && Object.values(value).every(isText),
  keys: (value) =>
    Array.isArray(value) &&
    value.every(
      has({
        id: (id) => /^[0-9a-f]{8}$/.test(String(id)),
        role: (role) => role === 'signing' || role === 'verifying',
      }),
    ),
  id_token_keys: (value) =>
    Array.isArray(value) &&
    value.every(
      has({
        id: (id) => /^[A-Za-z0-9_-]{43}$/.test(String(id)),
        alg: (alg) => /^[A-Za-z0-9]{1,16}$/.test(String(alg)),
        role: (role) => role === 'signing' || role === 'verifying',
      }),
    ),
  settings: (value) =>
    isObject(value) &&
    Object.values(value).every((setting) => isText(setting) || typeof setting === 'number'),
  audit: has({ waiting: isCount, dropped: isCount }),
  mail: has({
    transport: (value) => value === 'smtp' || value === 'product',
    failure: (value) => value === null || isText(value),
  }),
  redis: has({
    version: isText,
    maxmemory_policy: isText,
    appendonly: isText,
    aof_last_write_status: isText,
    role: isText,
    connected_replicas: isCount,
  }),
};

const isProcess = has({
  service: isText,
  instance: isText,
  version: isText,
  started_at: isTime,
  time: isTime,
});

function isServiceStatus(fields: Fields): fields is Fields & ServiceStatus {
  return (
    isProcess(fields) &&
    Object.entries(PARTS).every(([part, check]) => fields[part] === undefined || check(fields[part]))
  );
}
