import { guideEntry } from '#error-guide/error-guide.js';
import type { Party } from '#error-guide/guide-entry.js';
import { refused } from '#platform/validation/administration.error.js';
import { problem } from '#platform/validation/problem.js';
import type { AuditEvent } from '../../event.js';
import type { EventCount, Occurrences } from '../../index/audit-index.store.js';
import type { AuditStreamState } from '../../reader.js';
import { addOccurrences } from '../index/page-of-events.js';

export interface RefusalGroup {
  readonly check: string | null;
  readonly error: string | null;
  readonly title: string | null;
  readonly remedy: string | null;
  readonly party: Party | null;
  /** Reason why a logout token was not accepted; null for other refusals. */
  readonly failure: string | null;
  readonly count: number;
  readonly first: string;
  readonly last: string;
  /** Latest reference, for `explain`; null if no event has one. */
  readonly reference: string | null;
}

export interface RefusalSummary {
  readonly groups: readonly RefusalGroup[];
  readonly refused: number;
  /** Number of events about logout tokens that the application did not accept. */
  readonly logouts: number;
  /** Number of other events, such as issued tokens. */
  readonly succeeded: number;
}

interface Cause {
  readonly check: string | null;
  readonly error: string | null;
  readonly failure: string | null;
  readonly isLogout: boolean;
}

/** Groups refusals by cause, in constant memory per cause. Events may arrive in any order. */
export class SummaryBuilder {
  private readonly groups = new Map<string, Cause & Occurrences>();
  private succeeded = 0;

  add(event: AuditEvent): void {
    const { check = null, error = null, time, reference = null, type, detail } = event;
    const isLogout = type === 'logout_token.failed';
    const failure = isLogout ? String(detail?.['failure']) : null;
    const at = new Date(time);
    this.addAll({ check, error, failure, isLogout, count: 1, first: at, last: at, reference });
  }

  addAll(added: Cause & Occurrences): void {
    const { check, error, failure, isLogout } = added;
    if (check === null && error === null) {
      this.succeeded += added.count;
      return;
    }
    const key = `${check}\n${error}\n${failure}`;
    const cause = { check, error, failure, isLogout };
    this.groups.set(key, { ...cause, ...addOccurrences(this.groups.get(key), added) });
  }

  build(): RefusalSummary {
    const groups = [...this.groups.values()].sort((a, b) => b.count - a.count);
    const sum = (isLogout: boolean) =>
      groups.reduce((total, group) => total + (group.isLogout === isLogout ? group.count : 0), 0);
    return {
      groups: groups.map(groupOf),
      refused: sum(false),
      logouts: sum(true),
      succeeded: this.succeeded,
    };
  }
}

function groupOf({ check, error, failure, count, reference, ...times }: Cause & Occurrences): RefusalGroup {
  const entry = guideEntry(check ?? undefined, error ?? undefined);
  const [party = null, remedy = null] = entry?.remedies[0] ?? [];
  const [first, last] = [times.first.toISOString(), times.last.toISOString()];
  const title = entry?.title ?? null;
  return { check, error, title, party, remedy, failure, count, first, last, reference };
}

export function summaryOfCounts(counts: readonly Omit<EventCount, 'start'>[]): RefusalSummary {
  const summary = new SummaryBuilder();
  for (const { check, error, type, ...occurrences } of counts)
    summary.addAll({
      check: check || null,
      error: error || null,
      failure: null,
      isLogout: type === 'logout_token.failed',
      ...occurrences,
    });
  return summary.build();
}

declare module '#platform/validation/problem.js' {
  interface Problems {
    reference_of_proxy: { readonly given: string };
    reference_invalid: { readonly given: string };
  }
}

const REFERENCE = /^[\w-]{12}$/;
/** Format of nginx's $request_id. */
const NGINX_REQUEST_ID = /^[0-9a-f]{32}$/;

/** Extracts a reference from pasted text with quotes, spaces or a field name. @throws AdministrationError */
export function referenceIn(text: string): string {
  const named = text.replace(/^.*(?:error_reference|reference)\W+/i, '');
  const [, reference = named] = /^["'\s]*([\w-]+)["'\s.,]*$/.exec(named) ?? [];
  if (REFERENCE.test(reference)) return reference;
  if (NGINX_REQUEST_ID.test(reference))
    throw refused('invalid', problem('reference_of_proxy', [], { given: reference }));
  throw refused('invalid', problem('reference_invalid', [], { given: reference }));
}

/** Returns true for a likely misreading: at most two different characters, or only different letter case. */
export function isSimilar(reference: string, other: string): boolean {
  if (reference.length !== other.length) return false;
  if (reference.toLowerCase() === other.toLowerCase()) return true;
  let different = 0;
  for (let at = 0; at < reference.length; at++)
    if (reference[at] !== other[at] && ++different > 2) return false;
  return true;
}

const DAY_MS = 24 * 60 * 60_000;

/** Returns the time in UTC, like `2026-11-22 18:04`, since which no stream has lost events. */
export function searchedSince(
  streams: readonly Pick<AuditStreamState, 'created' | 'first' | 'bytes' | 'maxBytes' | 'maxAgeDays'>[],
  now = Date.now(),
): string {
  const times = streams.map(({ created, first, bytes, maxBytes, maxAgeDays }) => {
    const kept = Math.max(Date.parse(created), now - maxAgeDays * DAY_MS);
    // A stream that is more than half full may have discarded its oldest events.
    return bytes > maxBytes / 2 && first ? Math.max(kept, first.getTime()) : kept;
  });
  return new Date(Math.max(...times)).toISOString().slice(0, 16).replace('T', ' ');
}
