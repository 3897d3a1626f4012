import type { UserAccount, UserAccountDetails } from '../user-account.store.js';
import type { User } from '../user.js';

export type UserView = ReturnType<typeof userView>;
export type UserDetails = ReturnType<typeof userDetails>;

export function userView({ id, username, email, name, createdAt, disabledAt, disabledBy }: UserAccount) {
  return {
    id,
    username,
    email,
    name,
    created_at: createdAt.toISOString(),
    disabled_at: disabledAt?.toISOString() ?? null,
    disabled_by: disabledBy,
  };
}

/** Omits the password hash. */
export function userDetails(user: User, details: UserAccountDetails) {
  return {
    id: user.id,
    username: user.username,
    email: user.email,
    email_verified: user.emailVerified,
    name: user.name,
    issuer: user.issuer,
    external_id: user.externalId,
    has_password: details.hasPassword,
    time_zone: user.timeZone,
    locale: user.locale,
    organization_id: user.organizationId,
    created_at: details.createdAt.toISOString(),
    disabled_at: details.disabledAt?.toISOString() ?? null,
    disabled_by: details.disabledBy,
    live_grants: details.liveGrants,
    version: details.version,
  };
}
