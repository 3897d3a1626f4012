import { printable, quoted } from '#administration/text.js';
import { DuplicateUserError, type User } from '#database/user/user.js';
import type {
  Disabling,
  Enabling,
  UserAccount,
  UserAccountDetails,
  UserFilter,
} from '#database/user/user-account.store.js';
import { recordCommand } from '../audit/record-command.js';
import { InputError } from '../command-line/input.js';
import { commandToPaste } from '../command-line/shell.js';
import { publishUserEnded } from '../connections/logout.connection.js';
import { withStores } from '../connections/database.connection.js';
import { applyRevocations } from '../connections/nats.connection.js';
import type { Stores } from '../connections/stores.js';
import type { ChangeSettings, DatabaseSettings } from '../settings/settings.js';
import type { NewUserDto } from './user.dto.js';

/** @throws InputError if another user has the same email address or user name */
export async function createUser(
  settings: DatabaseSettings,
  { email, username, name, timeZone, locale }: NewUserDto,
  password: string,
): Promise<User> {
  const { hashPassword } = await import('#database/user/password.js');
  return withStores(settings, async ({ users }) => {
    const passwordHash = await hashPassword(password);
    const zone = timeZone === undefined ? {} : { timeZone };
    try {
      return await users.create({ email, username, name, passwordHash, locale: locale ?? null, ...zone });
    } catch (error) {
      if (!(error instanceof DuplicateUserError)) throw error;
      throw new InputError(
        error.fields.map((field) => `--${field}: another user has this ${field} already; choose another one`),
      );
    }
  });
}

/** @returns `more`: there is another page */
export async function listUsers(
  settings: DatabaseSettings,
  filter: UserFilter,
): Promise<{ page: UserAccount[]; more: boolean }> {
  // One extra row shows whether there is another page.
  const found = await withStores(settings, ({ accounts }) =>
    accounts.list({ ...filter, limit: filter.limit + 1 }),
  );
  return { page: found.slice(0, filter.limit), more: found.length > filter.limit };
}

export async function showUser(
  settings: DatabaseSettings,
  login: string,
): Promise<User & UserAccountDetails> {
  return withStores(settings, async (stores) => {
    const user = await findUser(stores, login);
    const details = await stores.accounts.details(user.id);
    if (!details) throw unknownUser(login);
    return { ...user, ...details };
  });
}

export async function setLocale(
  settings: DatabaseSettings,
  login: string,
  locale: string | null,
): Promise<User> {
  return withStores(settings, async (stores) => {
    const user = await findUser(stores, login);
    if (!(await stores.users.setLocale(user.id, locale))) throw unknownUser(login);
    return user;
  });
}

export async function setPassword(
  settings: DatabaseSettings,
  login: string,
  password: string,
  endSessions: boolean,
): Promise<User> {
  const { hashPassword } = await import('#database/user/password.js');
  return withStores(settings, async (stores) => {
    const user = await findUser(stores, login);
    const hash = await hashPassword(password);
    if (!(await stores.accounts.setPassword(user.id, hash, endSessions))) throw unknownUser(login);
    return user;
  });
}

/** Ends all sessions and grants of a user, and refuses new ones. Safe to repeat after a failure. */
export async function disableUser(settings: ChangeSettings, login: string): Promise<User & Disabling> {
  const disabled = await withStores(settings, async (stores) => {
    const user = await findUser(stores, login);
    const disabling = await stores.accounts.disable(user.id);
    if (!disabling) throw unknownUser(login);
    return { ...user, ...disabling };
  });
  const { id, username } = disabled;
  const detail = { revoked_grants: disabled.revokedGrants };
  try {
    await applyRevocations(settings.NATS_URL, { user_id: id }, `${username} is disabled`);
  } finally {
    await publishUserEnded(settings, id);
    await recordCommand(settings, { type: 'user.disabled', user_id: id, detail });
  }
  return disabled;
}

/** Undoes `disableUser`; with `overrideProduct`, also if the product disabled the user. */
export async function enableUser(
  settings: DatabaseSettings,
  login: string,
  overrideProduct: boolean,
): Promise<User & Enabling> {
  return withStores(settings, async (stores) => {
    const user = await findUser(stores, login);
    const enabling = await stores.accounts.enable(user.id, overrideProduct);
    if (!enabling) throw unknownUser(login);
    return { ...user, ...enabling };
  });
}

/** After a failure the user is disabled, and the command can be repeated. @returns `first`: false if another run deleted them */
export async function deleteUser(settings: ChangeSettings, login: string): Promise<User & Disabling> {
  return withStores(settings, async (stores) => {
    const user = await findUser(stores, login);
    const { id, username } = user;
    const applyAll = (state: string) =>
      applyRevocations(settings.NATS_URL, { user_id: id }, `${username} ${state}`);
    const disabled = await stores.accounts.disable(id);
    if (disabled?.first) await recordCommand(settings, { type: 'user.disabled', user_id: id });
    await publishUserEnded(settings, id);
    await applyAll(disabled ? 'is disabled, and not deleted yet' : 'is deleted');
    const deleted = await stores.accounts.delete(id);
    // Without name and email address: the audit trail outlives personal data.
    if (deleted) await recordCommand(settings, { type: 'user.deleted', user_id: id });
    // Nonzero if the user was enabled and granted access between the two steps.
    if (deleted?.revokedGrants) await applyAll('is deleted');
    const revokedGrants = (disabled?.revokedGrants ?? 0) + (deleted?.revokedGrants ?? 0);
    return { ...user, first: deleted !== null, revokedGrants };
  });
}

/** @throws InputError if several users match, or, with `hint`, if none does */
export async function findUser({ accounts }: Stores, login: string, hint = ''): Promise<User> {
  const [found, ...others] = await accounts.matching(login);
  if (!found) throw unknownUser(login, hint);
  if (others.length === 0) return found;
  const names = [found, ...others].map(
    ({ id, email, issuer, externalId }) =>
      `id:${id} (${printable(issuer === null ? email : `${email}, ${externalId} of ${issuer}`)})`,
  );
  throw new InputError([`${quoted(login)} matches several users: give one of ${names.join(', ')}`]);
}

function unknownUser(login: string, hint = ''): InputError {
  return new InputError([`there is no user ${quoted(login)}${hint}. See:${commandToPaste('user', 'list')}`]);
}
