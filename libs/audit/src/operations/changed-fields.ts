import type { AuditEvent, FieldChange } from '../event.js';

export interface ChangedField {
  readonly name: string;
  /** Elements of a list, or the value. */
  readonly removed: readonly string[];
  readonly added: readonly string[];
  /** Reason why the trail does not have the values. */
  readonly omitted: 'personal' | 'secret' | null;
}

export function changedFields({ changes = {} }: Pick<AuditEvent, 'changes'>): ChangedField[] {
  return Object.entries(changes).map(([name, change]) => ({ name, ...difference(change) }));
}

/** Describes the changes of an event in one line, like `name: - A + B; scopes: + openid`. */
export function changesText(event: Pick<AuditEvent, 'changes'>): string {
  return changedFields(event)
    .map(({ name, removed, added, omitted }) => {
      const values = [...removed.map((value) => `- ${value}`), ...added.map((value) => `+ ${value}`)];
      return `${name}: ${omitted === null ? values.join(' ') : `changed (${omitted})`}`;
    })
    .join('; ');
}

function difference(change: FieldChange): Omit<ChangedField, 'name'> {
  if ('omitted' in change) return { removed: [], added: [], omitted: change.omitted };
  const [before, after] = [textsOf(change.old), textsOf(change.new)];
  const removed = before.filter((text) => !after.includes(text));
  const added = after.filter((text) => !before.includes(text));
  // Only the order or the number of repetitions differs.
  if (removed.length + added.length === 0) return { removed: before, added: after, omitted: null };
  return { removed, added, omitted: null };
}

function textsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsOf);
  if (value === null || value === undefined) return [];
  return [typeof value === 'string' ? value : JSON.stringify(value)];
}
