import type { User } from '#database/user/user.js';
import { quoted } from '../client/registration-rules.js';
import { InputError } from '../command-line/input.error.js';
import { invocation } from '../command-line/invocation.js';
import type { Stores } from '../settings/directory.connection.js';

/** Finds a user by email address or user name. @throws InputError when there is none */
export async function findUser(stores: Stores, login: string): Promise<User> {
  const { UserStore } = await import('#database/user/user.store.js');
  const found = await stores.get(UserStore).findByLogin(login);
  if (!found) throw unknownUser(login);
  return found.user;
}

export function unknownUser(login: string): InputError {
  return new InputError([`there is no user ${quoted(login)}: see ${invocation()} user list`]);
}
