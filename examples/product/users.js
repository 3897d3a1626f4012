// The product's users, in a file instead of a database. Passwords are bcrypt hashes.
import { readFileSync } from 'node:fs';
import { verify } from '@node-rs/bcrypt';

export const users = JSON.parse(readFileSync(new URL('users.json', import.meta.url), 'utf8'));

export const findUser = (id) => users.find((user) => user.id === id);

/** Returns the user, or undefined for an unknown e-mail address or a wrong password. */
export async function checkPassword(email, password) {
  const user = users.find((one) => one.email === email);
  return user && (await verify(String(password), user.passwordHash)) ? user : undefined;
}
