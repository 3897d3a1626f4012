import { isClientId } from '#oauth/oauth-client.js';
import { wellFormed } from '#oauth/text.js';
import type { AuditedApp, AuditEvent, AuditType } from '../../event.js';
import type { NewRefusedRequest } from '../../index/refused-request.store.js';
import { causeOf, grantOf, type StoredAuditEvent, timeOf } from './page-of-events.js';

/** Other refusals are about a user or a delivery. */
const TYPES: ReadonlySet<AuditType> = new Set([
  'request.refused',
  'request.throttled',
  'token.reuse_detected',
  'grant.revoked',
  'consent.denied',
]);

/** Services that applications call. A stolen password of another process must not write into pages of owners. */
const SERVICES: ReadonlySet<AuditedApp> = new Set(['authorize', 'token', 'resource']);

/** Values that the application sent or registered. Everything else stays in the trail, such as users and traces. */
const VALUES = [
  'sent',
  'expected',
  'registered',
  'requested',
  'redirect_uri',
  'post_logout_redirect_uri',
  'expired_at',
  'parameter',
  'length',
  'wrong',
  'proved',
  'jkt',
  'alg',
  'retry_after',
] as const;

/** Check whose expected value is another client. */
const OTHER_CLIENT = 'other_client';

const MAX_TEXT = 500;
const STATUS = /^[1-5]\d\d$/;

/** Returns the refused requests of clients, with the values that owners may read. */
export function refusedOf(events: readonly StoredAuditEvent[]): NewRefusedRequest[] {
  return events.flatMap((stored): NewRefusedRequest[] => {
    const { event } = stored;
    const { check, error, reference } = causeOf(event);
    const clientId = isClientId(event.client_id ?? '') ? (event.client_id ?? null) : null;
    const grantId = grantOf(event);
    const cause = check || error;
    if (!TYPES.has(event.type) || !SERVICES.has(event.service)) return [];
    if (cause === '' || (clientId === null && grantId === null)) return [];
    const { request } = event;
    return [
      {
        clientId,
        grantId,
        event: textOf(`${event.service}.${event.id}`),
        at: new Date(timeOf(stored)),
        reference,
        cause,
        error,
        status: STATUS.test(String(event.status)) ? (event.status ?? null) : null,
        request: request ? textOf(`${request.method} ${request.path}`) : null,
        description: textOf(event.description ?? ''),
        detail: valuesOf(event, cause),
      },
    ];
  });
}

function valuesOf({ detail = {} }: AuditEvent, cause: string): Record<string, unknown> {
  const shown = VALUES.filter((name) => name in detail && !(name === 'expected' && cause === OTHER_CLIENT));
  return Object.fromEntries(shown.map((name) => [name, plain(detail[name])]));
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => typeof item === 'string').map(textOf);
  if (typeof value === 'string') return textOf(value);
  return typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

/** PostgreSQL rejects NUL. */
const textOf = (text: string): string => wellFormed(text.slice(0, MAX_TEXT).replaceAll('\0', ''));
