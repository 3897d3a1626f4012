import type { UserAccountStore } from '../user-account.store.js';
import type { User } from '../user.js';
import { type AdministrationError, refusal } from '#operations/administration.error.js';
import { printable, quoted } from '#operations/wording.js';

/** Accepts email, username, external_id, or `id:` and the id. @throws AdministrationError unless one user matches */
export async function findUser(accounts: UserAccountStore, login: string, hint = ''): Promise<User> {
  const [user, ...others] = await accounts.matching(login);
  if (!user) throw unknownUser(login, hint);
  if (others.length === 0) return user;
  const names = [user, ...others].map(
    ({ id, email, issuer, externalId }) =>
      `id:${id} (${printable(issuer === null ? email : `${email}, ${externalId} of ${issuer}`)})`,
  );
  throw refusal(
    'conflict',
    'user_ambiguous',
    `${quoted(login)} matches several users: give one of ${names.join(', ')}`,
  );
}

export function unknownUser(login: string, hint = ''): AdministrationError {
  return refusal('unknown', 'user_unknown', `there is no user ${quoted(login)}${hint}`, {
    text: 'See',
    command: ['user', 'list'],
  });
}
