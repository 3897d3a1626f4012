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
