import type { UserAccountStore } from '#database/user/user-account.store.js';
import type { User } from '#database/user/user.js';
import { type AdministrationError, refusal } from '../administration.error.js';
import { printable, quoted } from '../text.js';

/**
 * Finds a user by email, username or external_id, or by `id:` and the id.
 *
 * @param hint for a user who does not exist
 * @throws AdministrationError if no user matches, or several
 */
export async function findUser(accounts: UserAccountStore, login: string, hint = ''): Promise<User> {
  const [found, ...others] = await accounts.matching(login);
  if (!found) throw unknownUser(login, hint);
  if (others.length === 0) return found;
  const names = [found, ...others].map(
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
