import { CONSOLE_ROLES as ROLES, type ConsoleRole as Role } from '#database/user/console-role.js';

export type { Role };

function isRole(value: unknown): value is Role {
  return ROLES.includes(value as Role);
}

export function mayActAs(role: Role, required: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(required);
}

export type RolesOfGroups = ReadonlyMap<string, Role>;

/** @throws Error that says what is wrong with an entry of `group=role`, comma-separated */
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

/**
 * Returns the highest role of the groups in a claim.
 *
 * @param claim a group, or an array of groups; null without a group that has a role
 */
export function roleOfGroups(roles: RolesOfGroups, claim: unknown): Role | null {
  const groups: unknown[] = Array.isArray(claim) ? claim : [claim];
  const found = groups.map((group) => (typeof group === 'string' ? roles.get(group) : undefined));
  return ROLES.findLast((role) => found.includes(role)) ?? null;
}
