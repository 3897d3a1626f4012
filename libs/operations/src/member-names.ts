/** Members of the HTTP API and of files whose fields have other names than the conversion to camel case yields. */
const FIELDS: Readonly<Record<string, string>> = { dpop_bound_access_tokens: 'dpopBound' };
const MEMBERS = new Map(Object.entries(FIELDS).map(([member, field]) => [field, member]));

export function fieldOfMember(member: string): string {
  const named = Object.hasOwn(FIELDS, member) ? FIELDS[member] : undefined;
  return named ?? member.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

export function memberOf(field: string): string {
  return MEMBERS.get(field) ?? field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

type SnakeCase<Name extends string> = Name extends `${infer Letter}${infer Rest}`
  ? `${Letter extends Lowercase<Letter> ? Letter : `_${Lowercase<Letter>}`}${SnakeCase<Rest>}`
  : Name;

/** Fields under the names of the HTTP API, with times in ISO 8601. */
export type Described<Entity, Field extends keyof Entity & string> = {
  readonly [Name in Field as SnakeCase<Name>]: Entity[Name] extends Date | null
    ? string | Exclude<Entity[Name], Date>
    : Entity[Name];
};

/** Describes these fields only, so that a new column stays private. */
export function described<Entity extends object, Field extends keyof Entity & string>(
  entity: Entity,
  fields: readonly Field[],
): Described<Entity, Field> {
  const members = fields.map((field) => {
    const value = entity[field];
    return [memberOf(field), value instanceof Date ? value.toISOString() : value];
  });
  return Object.fromEntries(members) as Described<Entity, Field>;
}
