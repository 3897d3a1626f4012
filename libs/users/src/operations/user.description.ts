import { described } from '#operations/member-names.js';
import type { UserAccount, UserAccountDetails } from '../user-account.store.js';
import type { User } from '../user.js';

export type UserView = ReturnType<typeof userView>;
export type UserDetails = ReturnType<typeof userDetails>;

export function userView(account: UserAccount) {
  return described(account, ['id', 'username', 'email', 'name', 'createdAt', 'disabledAt', 'disabledBy']);
}

/** Omits the password hash. */
export function userDetails(user: User, details: UserAccountDetails) {
  return {
    ...described(user, ['id', 'username', 'email', 'emailVerified', 'name', 'issuer', 'externalId']),
    ...described(details, ['hasPassword']),
    ...described(user, ['timeZone', 'locale', 'organizationId']),
    ...described(details, ['createdAt', 'disabledAt', 'disabledBy', 'liveGrants', 'version']),
  };
}
