import type { Actor } from '#operations/audit-trail.js';
import { type AdministrationError, refused } from '#operations/administration.error.js';
import { problem } from '#platform/validation/problem.js';

/** API clients and the application by which operators log in have the rights of operators. */
type PrivilegedAccount = 'application' | 'user';

declare module '#platform/validation/problem.js' {
  interface Problems {
    admin_required: { readonly account: PrivilegedAccount };
    operators_scope_required: { readonly account: PrivilegedAccount };
  }
}

/** Error for an actor who must not change an account that has the rights of operators. */
export function privilegedAccount({ channel }: Actor, account: PrivilegedAccount): AdministrationError {
  const id = channel === 'api' ? 'operators_scope_required' : 'admin_required';
  return refused('forbidden', problem(id, [], { account }));
}
