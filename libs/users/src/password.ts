import { pbkdf2, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { hash, verify } from '@node-rs/argon2';
import { verify as verifyBcrypt } from '@node-rs/bcrypt';
import {
  hasCurrentParameters,
  isBcrypt,
  LARGE_MEMORY,
  memoryOf,
  PARAMETERS,
  parsePbkdf2,
  parseScrypt,
  passwordHashProblem,
  scryptBytes,
  type ScryptHash,
} from './password-hash.js';

/** Bytes of a password that bcrypt uses; bcrypt ignores the rest. */
const BCRYPT_BYTES = 72;

/** Normalizes a password, because keyboards may compose the same letter differently (NIST SP 800-63B 5.1.1.2). */
const normalize = (password: string): string => password.normalize('NFKC');

/** Takes about 20 ms of CPU on libuv's thread pool. The caller limits the length. @returns PHC string of argon2id */
export function hashPassword(password: string): Promise<string> {
  return hash(normalize(password), PARAMETERS);
}

/**
 * @param passwordHash null and unaccepted hashes never match
 * @param others hashes to verify as well, so that the duration reveals nothing; their results are ignored
 * @param onError receives an accepted hash that could not be verified, which does not match
 */
export async function verifyPassword(
  password: string,
  passwordHash: string | null,
  others: readonly string[] = [],
  onError: (passwordHash: string, error: unknown) => void = () => undefined,
): Promise<boolean> {
  // An error must not escape: the hash of one user would stop the logins of all users.
  const verify = async (hashed: string): Promise<boolean> => {
    try {
      return await matchesInAnyForm(password, hashed);
    } catch (error) {
      onError(hashed, error);
      return false;
    }
  };
  const isMatch = passwordHash !== null && (await verify(passwordHash));
  for (const other of others) await verify(other);
  return isMatch;
}

/** Verifies the normalized and the original password, even after a match: the work must not depend on the result. */
async function matchesInAnyForm(password: string, passwordHash: string): Promise<boolean> {
  if (passwordHashProblem(passwordHash) !== null) return false;
  let isMatch = false;
  for (const form of new Set([normalize(password), password])) {
    const verifies = () => matches(form, passwordHash);
    if (await (memoryOf(passwordHash) > LARGE_MEMORY ? oneAtATime(verifies) : verifies())) isMatch = true;
  }
  return isMatch;
}

let last: Promise<unknown> = Promise.resolve();

/** Runs a task after the previous tasks, so that only one of them uses memory. */
function oneAtATime<T>(task: () => Promise<T>): Promise<T> {
  const result = last.then(task);
  last = result.catch(() => undefined);
  return result;
}

/** Returns false if bcrypt ignored the end of the password: a rehash would make a typo in that part permanent. */
export function needsRehash(password: string, passwordHash: string): boolean {
  return (
    !hasCurrentParameters(passwordHash) &&
    !(isBcrypt(passwordHash) && Buffer.byteLength(password) > BCRYPT_BYTES)
  );
}

const deriveByPbkdf2 = promisify(pbkdf2);
const deriveByScrypt = promisify<string, Buffer, number, object, Buffer>(scrypt);

async function matches(password: string, passwordHash: string): Promise<boolean> {
  const byPbkdf2 = parsePbkdf2(passwordHash);
  if (byPbkdf2) {
    const { digest, iterations, salt, key } = byPbkdf2;
    return timingSafeEqual(await deriveByPbkdf2(password, salt, iterations, key.length, digest), key);
  }
  const byScrypt = parseScrypt(passwordHash);
  if (byScrypt) return matchesScrypt(password, byScrypt);
  if (!isBcrypt(passwordHash)) return verify(passwordHash, password);
  const result = await verifyBcrypt(password, passwordHash);
  // Many bcrypt libraries ignore everything after a NUL.
  return result && !password.includes('\0');
}

async function matchesScrypt(password: string, scryptHash: ScryptHash): Promise<boolean> {
  const { N, r, p, salt, key } = scryptHash;
  const options = { N, r, p, maxmem: scryptBytes(scryptHash) };
  return timingSafeEqual(await deriveByScrypt(password, salt, key.length, options), key);
}
