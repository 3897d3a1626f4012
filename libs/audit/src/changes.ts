import type { FieldChange } from './event.js';

/** Fields of a user that an event names without their values, because events outlive the user. */
const PERSONAL: ReadonlySet<string> = new Set([
  'email',
  'username',
  'name',
  'avatar_url',
  'bio',
  'issuer',
  'external_id',
]);

type Described = Readonly<Record<string, unknown>>;

interface Changed {
  readonly changes?: Readonly<Record<string, FieldChange>>;
}

/**
 * Returns the `changes` of an event, or nothing if no field differs. An absent field equals null.
 * @param before described values, which must not be secret
 */
export function changesBetween(before: Described, after: Described): Changed {
  return changed(before, after, (name) => ({ old: before[name] ?? null, new: after[name] ?? null }));
}

/** Like `changesBetween`, but without personal values. */
export function userChangesBetween(before: Described, after: Described): Changed {
  return changed(before, after, (name) =>
    PERSONAL.has(name) ? { omitted: 'personal' } : { old: before[name] ?? null, new: after[name] ?? null },
  );
}

function changed(before: Described, after: Described, changeOf: (name: string) => FieldChange): Changed {
  const isSame = (name: string) =>
    JSON.stringify(before[name] ?? null) === JSON.stringify(after[name] ?? null);
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => !isSame(name));
  return names.length === 0
    ? {}
    : { changes: Object.fromEntries(names.map((name) => [name, changeOf(name)])) };
}
