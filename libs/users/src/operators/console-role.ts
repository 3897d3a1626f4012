import { type AdministrationError, refused } from '#platform/validation/administration.error.js';
import { problem } from '#platform/validation/problem.js';

/** From least to most privileged: each role includes the roles before it. */
export const CONSOLE_ROLES = ['viewer', 'support', 'admin'] as const;

/** `viewer` reads, `support` also ends access (revokes, disables), `admin` may do everything. */
export type ConsoleRole = (typeof CONSOLE_ROLES)[number];

/** Rights of the person or program that makes a change. */
export interface ActorRights {
  readonly channel: 'command' | 'api' | 'page' | 'portal';
  /**
   * Null for the owner of an application, during a login, and for an API client whose token does not have the scope
   * `admin:operators`.
   */
  readonly role: ConsoleRole | null;
}

/** API clients and the application by which operators log in have the rights of operators. */
type PrivilegedAccount = 'application' | 'user';

/** Change after which the console would have no admin. */
export type LastAdminChange = 'role' | 'disable' | 'delete';

export interface LastAdminCondition {
  /** True permits a change after which the console has no admin. */
  readonly confirmLastAdmin?: boolean;
  /** Name of the user in the error; the username by default. */
  readonly login?: string;
}

declare module '#platform/validation/problem.js' {
  interface Problems {
    admin_required: { readonly account: PrivilegedAccount };
    operators_scope_required: { readonly account: PrivilegedAccount };
    confirmLastAdmin: { readonly change: LastAdminChange; readonly login: string };
  }
}

/**
 * Returns true if the actor may change the account of a user with this role: an admin every one, others a lower role.
 */
export function mayChangeRole(actor: ConsoleRole | null, role: ConsoleRole | null): boolean {
  if (actor === 'admin' || role === null) return true;
  return actor !== null && CONSOLE_ROLES.indexOf(actor) > CONSOLE_ROLES.indexOf(role);
}

/** Error for an actor who must not change an account that has the rights of operators. */
export function privilegedAccount({ channel }: ActorRights, account: PrivilegedAccount): AdministrationError {
  const id = channel === 'api' ? 'operators_scope_required' : 'admin_required';
  return refused('forbidden', problem(id, [], { account }));
}
