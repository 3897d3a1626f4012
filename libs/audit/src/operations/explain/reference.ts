import type { AuditStreamState } from '../../reader.js';
import { refused } from '#operations/administration.error.js';
import { problem } from '#platform/validation/problem.js';

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
