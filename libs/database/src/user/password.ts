import { hash, verify } from '@node-rs/argon2';

// argon2id (the library's default) with the parameters OWASP's password storage cheat sheet recommends:
// 19 MiB of memory, two passes, one lane.
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 };

/** The hash of a discarded random password, with the parameters above. */
const DUMMY_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$wVu0N+Y8Esil8EZzaSaYbw$MmxNIZbSl0j5K9gX5pOQtYeIoqYBuUbpYOxwrFoBRfc';

/** Keyboards may compose the same letter differently (NIST SP 800-63B 5.1.1.2). */
const normalize = (password: string): string => password.normalize('NFKC');

/**
 * About 20 ms of CPU in a thread of libuv's pool. Callers limit the length of the password.
 *
 * @returns an argon2id hash with its parameters and salt, in PHC string format
 */
export function hashPassword(password: string): Promise<string> {
  return hash(normalize(password), PARAMETERS);
}

/**
 * @param passwordHash from `hashPassword`; null if there is no such user: verifies against a dummy hash, so that the duration
 *   does not reveal whether an account exists
 */
export async function verifyPassword(password: string, passwordHash: string | null): Promise<boolean> {
  const matches = await verify(passwordHash ?? DUMMY_HASH, normalize(password));
  return matches && passwordHash !== null;
}
