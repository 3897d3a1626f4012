import type { AuditEvent } from '../../event.js';
import { guideEntry } from '#error-guide/error-guide.js';
import type { GuideEntry } from '#error-guide/guide-entry.js';
import { type Comparison, comparisonOf } from './comparison.js';
import type { GrantOwner } from './grant-owners.js';
import { type Registration, type EventRemedy, remediesOf } from './event-remedies.js';

export interface Explanation {
  readonly reference: string;
  /** The most informative event of the request; `others` are its remaining events. */
  readonly event: AuditEvent;
  readonly others: readonly AuditEvent[];
  readonly clientId: string | null;
  readonly userId: number | null;
  readonly grantId: string | null;
  readonly title: string | null;
  readonly meaning: string | null;
  readonly comparison: Comparison;
  readonly remedies: readonly EventRemedy[];
}

/** Checks of APIs that record only that a token is invalid; the token app records the reason. */
const VAGUE: ReadonlySet<unknown> = new Set(['access_token_inactive']);

export function clientIdOf(events: readonly AuditEvent[], owner: GrantOwner | null): string | null {
  return firstValueOf(events, ({ client_id: id }) => id) ?? owner?.clientId ?? null;
}

/** Returns the first value of a field, because an API and the token app record different fields of a request. */
export function firstValueOf<Value>(
  events: readonly AuditEvent[],
  field: (event: AuditEvent) => Value | undefined,
): Value | undefined {
  return events.map(field).find((value) => value !== undefined);
}

export function explanationOf(
  reference: string,
  events: readonly [AuditEvent, ...AuditEvent[]],
  owner: GrantOwner | null,
  registration: Registration,
): Explanation {
  const [event = events[0], ...others] = [...events].sort((a, b) => vagueness(a) - vagueness(b));
  const entry = isRefusal(event) ? (guideEntry(event.check, event.error) ?? unknownRefusal(event)) : null;
  const clientId = clientIdOf(events, owner);
  const grantId = firstValueOf(events, ({ grant_id: id }) => id) ?? null;
  const userId = firstValueOf(events, ({ user_id: id }) => id) ?? owner?.userId ?? null;
  return {
    reference,
    event,
    others,
    clientId,
    userId,
    grantId,
    title: entry?.title ?? null,
    meaning: entry?.meaning ?? null,
    comparison: comparisonOf(event),
    remedies: entry
      ? remediesOf(entry, event, registration, {
          ...(clientId !== null && { client_id: clientId }),
          ...(grantId !== null && { grant_id: grantId }),
          ...(userId !== null && { user: `id:${userId}` }),
        })
      : [],
  };
}

/**
 * Returns the event's own description, for refusals that are not in the guide, such as most refusals of the console.
 */
function unknownRefusal({ description }: AuditEvent): GuideEntry {
  return { title: 'The request was refused', meaning: description ?? '', remedies: [] };
}

export function isRefusal({ error, check }: AuditEvent): boolean {
  return error !== undefined || check !== undefined;
}

function vagueness(event: AuditEvent): number {
  if (!isRefusal(event)) return 2;
  return VAGUE.has(event.check) ? 1 : 0;
}
