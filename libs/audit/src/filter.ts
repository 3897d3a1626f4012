import { AUDIT_STREAMS, AUDIT_TYPES, type AuditEvent, type AuditType } from './event.js';

/** An event must match every given field. */
export interface AuditFilter {
  readonly types?: readonly AuditType[] | undefined;
  readonly clientId?: string | undefined;
  readonly userId?: number | undefined;
  readonly grantId?: string | undefined;
  readonly reference?: string | undefined;
  /** Failed check, such as `code_expired`. */
  readonly check?: string | undefined;
  /** Exact value, such as `ada@laptop`. */
  readonly operator?: string | undefined;
  /** Inclusive lower bound. */
  readonly since?: Date | undefined;
  /** Exclusive upper bound. */
  readonly until?: Date | undefined;
}

/** Returns all types `token.…` for `token`, one type for `token.issued`, and an empty array for an unknown name. */
export function typesNamed(name: string): AuditType[] {
  return AUDIT_TYPES.filter((type) => type === name || type.startsWith(`${name}.`));
}

/** Names of a searched field in a filter and in an event, rarest value first. */
export const SEARCHED_FIELDS = [
  ['reference', 'reference'],
  ['grantId', 'grant_id'],
  ['userId', 'user_id'],
  ['operator', 'operator'],
  ['clientId', 'client_id'],
  ['check', 'check'],
] as const;

/** Returns the fields of events that a filter selects by value. */
export function searchedValues(filter: AuditFilter) {
  return SEARCHED_FIELDS.flatMap(([name, field]) => {
    const value = filter[name];
    return value === undefined ? [] : [{ name, field, value }];
  });
}

export function matcher(filter: AuditFilter): (event: AuditEvent) => boolean {
  const searched = searchedValues(filter);
  const types = filter.types && new Set<string>(filter.types);
  const [since, until] = [filter.since?.toISOString() ?? '', filter.until?.toISOString() ?? '~'];
  return (event) =>
    (types === undefined || types.has(event.type)) &&
    searched.every(({ field, value }) => event[field] === value) &&
    event.time >= since &&
    event.time < until;
}

/** Returns streams that may contain matches. Each has one subject filter, because NATS before 2.10 permits only one. */
export function sourcesOf({ types }: AuditFilter): { stream: string; subject: string }[] {
  return AUDIT_STREAMS.flatMap(({ name: stream, prefix, types: all }) => {
    const wanted = types ? all.filter((type) => types.includes(type)) : all;
    const nouns = new Set(wanted.map((type) => type.split('.')[0]));
    if (wanted.length === 0) return [];
    if (wanted.length === 1) return [{ stream, subject: `${prefix}${wanted[0]}` }];
    return [{ stream, subject: nouns.size === 1 ? `${prefix}${[...nouns][0]}.*` : `${prefix}>` }];
  });
}
