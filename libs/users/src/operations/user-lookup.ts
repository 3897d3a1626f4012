import type { UserAccountStore } from '../user-account.store.js';
import type { User } from '../user.js';
import { type AdministrationError, refused } from '#operations/administration.error.js';
import { printable } from '#operations/wording.js';
import { problem } from '#platform/validation/problem.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    user_unknown: { readonly login: string; readonly mayBeDeleted: boolean };
    user_ambiguous: { readonly login: string; readonly names: readonly string[] };
  }
}

/** Accepts email, username, external_id, or `id:` and the id. @throws AdministrationError unless one user matches */
export async function findUser(
  accounts: UserAccountStore,
  login: string,
  mayBeDeleted = false,
): Promise<User> {
  const [user, ...others] = await accounts.matching(login);
  if (!user) throw unknownUser(login, mayBeDeleted);
  if (others.length === 0) return user;
  const names = [user, ...others].map(
    ({ id, email, issuer, externalId }) =>
      `id:${id} (${printable(issuer === null ? email : `${email}, ${externalId} of ${issuer}`)})`,
  );
  throw refused('conflict', problem('user_ambiguous', [], { login, names }));
}

/** @param mayBeDeleted true where the id of a deleted user is accepted */
export function unknownUser(login: string, mayBeDeleted = false): AdministrationError {
  return refused('unknown', problem('user_unknown', [], { login, mayBeDeleted }));
}
