import { hash, verify } from '@node-rs/argon2';
import { verify as verifyBcrypt } from '@node-rs/bcrypt';
import { isBcrypt, isCurrent, PARAMETERS, passwordHashProblem } from './password-hash.js';

/** bcrypt hashes no more bytes of a password. */
const BCRYPT_BYTES = 72;

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
 * Verifies a password against a hash of ours or of the product, which need not have normalized the password.
 *
 * @param passwordHash null or a hash that is not accepted: answers false
 * @param others hashes to verify as well, whose results do not count
 */
export async function verifyPassword(
  password: string,
  passwordHash: string | null,
  others: readonly string[] = [],
): Promise<boolean> {
  const isRight = passwordHash !== null && (await matchesInAnySpelling(password, passwordHash));
  for (const other of others) await matchesInAnySpelling(password, other);
  return isRight;
}

/** Verifies every spelling, also after a match: the work must not depend on the result. */
async function matchesInAnySpelling(password: string, passwordHash: string): Promise<boolean> {
  if (passwordHashProblem(passwordHash) !== null) return false;
  let isRight = false;
  for (const spelling of new Set([normalize(password), password]))
    if (await matches(spelling, passwordHash)) isRight = true;
  return isRight;
}

/**
 * Whether the hash of a password that has just been verified should be replaced by `hashPassword`. Not if bcrypt has seen only the
 * beginning of the password: what the user typed after that may be wrong, and would become right.
 */
export function needsRehash(password: string, passwordHash: string): boolean {
  return !isCurrent(passwordHash) && !(isBcrypt(passwordHash) && Buffer.byteLength(password) > BCRYPT_BYTES);
}

async function matches(password: string, passwordHash: string): Promise<boolean> {
  if (!isBcrypt(passwordHash)) return verify(passwordHash, password);
  const result = await verifyBcrypt(password, passwordHash);
  // Many bcrypt libraries end the password at a NUL, so that what follows would not count.
  return result && !password.includes('\0');
}
