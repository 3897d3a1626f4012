import { CONSOLE_ROLES as ROLES, type ConsoleRole as Role } from '#users/operators/console-role.js';

export type { Role };

function isRole(value: unknown): value is Role {
  return ROLES.includes(value as Role);
}

export function mayActAs(role: Role, required: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(required);
}

export type RolesOfGroups = ReadonlyMap<string, Role>;

export function parseRoles(text: string): RolesOfGroups {
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry): [string, Role] => {
      const at = entry.lastIndexOf('=');
      const role = entry.slice(at + 1).trim();
      if (at < 1 || !isRole(role)) throw new Error(`each entry must be GROUP=${ROLES.join('|')}`);
      return [entry.slice(0, at).trim(), role];
    });
  return new Map(entries);
}

/** @param claim a group, or an array of groups */
export function roleOfGroups(roles: RolesOfGroups, claim: unknown): Role | null {
  const groups: unknown[] = Array.isArray(claim) ? claim : [claim];
  const granted = groups.map((group) => (typeof group === 'string' ? roles.get(group) : undefined));
  return ROLES.findLast((role) => granted.includes(role)) ?? null;
}
