/** From least to most privileged: each role includes the roles before it. */
export const CONSOLE_ROLES = ['viewer', 'support', 'admin'] as const;

/** `viewer` reads, `support` also ends access (revokes, disables), `admin` may do everything. */
export type ConsoleRole = (typeof CONSOLE_ROLES)[number];

/**
 * Returns true if the actor may change the account of a user with this role: an admin every one, others a lower role.
 */
export function mayChangeRole(actor: ConsoleRole | null, role: ConsoleRole | null): boolean {
  if (actor === 'admin' || role === null) return true;
  return actor !== null && CONSOLE_ROLES.indexOf(actor) > CONSOLE_ROLES.indexOf(role);
}

/** Thrown, before anything is written, by a change that the role of the actor does not permit. */
export class RoleTooLowError extends Error {
  constructor() {
    super('the role of the actor does not permit the change');
    this.name = 'RoleTooLowError';
  }
}

/** Thrown, before anything is written, by a change after which the console would have no admin. */
export class LastAdminError extends Error {
  constructor() {
    super('the user is the last admin of the console');
    this.name = 'LastAdminError';
  }
}
