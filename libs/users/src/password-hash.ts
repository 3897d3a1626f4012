/** Parameters of OWASP's password storage cheat sheet: 19 MiB of memory, two passes, one lane. */
export const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 };

const CURRENT_PREFIX = `$argon2id$v=19$m=${PARAMETERS.memoryCost},t=${PARAMETERS.timeCost},p=${PARAMETERS.parallelism}$`;

/** PHC string formats. They reject numbers with a leading zero, on which the library of argon2 throws. */
const NUMBER = String.raw`([1-9]\d{0,9})`;
const SALT_AND_HASH = String.raw`\$([A-Za-z0-9+/]{2,86})\$([A-Za-z0-9+/]{22,86})$`;
const ARGON2 = new RegExp(
  String.raw`^\$argon2(?:id|i|d)\$(?:v=(?:16|19)\$)?m=${NUMBER},t=${NUMBER},p=${NUMBER}${SALT_AND_HASH}`,
);
const SCRYPT = new RegExp(String.raw`^\$scrypt\$ln=${NUMBER},r=${NUMBER},p=${NUMBER}${SALT_AND_HASH}`);
/** With the length `l` of the hash in bytes, because a longer hash costs more. */
const PBKDF2 = new RegExp(
  String.raw`^\$pbkdf2-(sha1|sha256|sha512)\$i=${NUMBER},l=${NUMBER}${SALT_AND_HASH}`,
);
/** Excludes $2$ (undefined character encoding) and $2x$ (faulty algorithm). */
const BCRYPT = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;

/** In KiB. `verifyPassword` verifies one password at a time if the hash needs more than LARGE_MEMORY. */
const MAX_MEMORY = 131_072;
/**
 * In KiB, the low-memory recommendation of RFC 9106 4. A process verifies four passwords concurrently, and at most one
 * of them needs more: 3 × 64 + 128 MiB.
 */
export const LARGE_MEMORY = 65_536;
/** In KiB × passes: 0.4 to 0.7 s of CPU. */
const MAX_ARGON2_WORK = 8 * LARGE_MEMORY;
/** The library starts threads for each lane in each pass, which cost more than the passes if the memory is small. */
const MAX_PASSES = 64;
/** RFC 9106 3.1: at least 8 bytes. */
const MIN_ARGON2_SALT = 11;
/** In KiB × p: 0.5 to 0.7 s of CPU. */
const MAX_SCRYPT_WORK = MAX_MEMORY;
/** Bounds the memory of scrypt that does not depend on N, and the cost of its PBKDF2. */
const MAX_SCRYPT_R = 32;
/** p of argon2 and scrypt. */
const MAX_LANES = 16;
/** About a second of CPU; each increment doubles the time. */
const MAX_BCRYPT_COST = 14;
const MIN_BCRYPT_COST = 4;
/** The maximum number of rounds takes 0.8 to 1 s of CPU. */
const PBKDF2_DIGESTS = {
  sha1: { bytes: 20, maxRounds: 2_000_000 },
  sha256: { bytes: 32, maxRounds: 2_000_000 },
  sha512: { bytes: 64, maxRounds: 1_000_000 },
} as const;

export interface Pbkdf2Hash {
  readonly digest: keyof typeof PBKDF2_DIGESTS;
  readonly iterations: number;
  readonly salt: Buffer;
  readonly key: Buffer;
}

/** RFC 7914 2. */
export interface ScryptHash {
  readonly N: number;
  readonly r: number;
  readonly p: number;
  readonly salt: Buffer;
  readonly key: Buffer;
}

/** Canonical base64 (RFC 4648 3.5), as the library requires. */
const isBase64 = (text: string): boolean =>
  Buffer.from(text, 'base64').toString('base64').replaceAll('=', '') === text;

export const isBcrypt = (passwordHash: string): boolean => BCRYPT.test(passwordHash);

/** Returns false for other parameters: the next login replaces such a hash, so that every login costs the same. */
export const hasCurrentParameters = (passwordHash: string): boolean =>
  passwordHash.startsWith(CURRENT_PREFIX);

/** Returns null unless the text is a PBKDF2 hash in the format in which hashes are stored. */
export function parsePbkdf2(passwordHash: string): Pbkdf2Hash | null {
  const [, digest, iterations, , salt = '', key = ''] = PBKDF2.exec(passwordHash) ?? [];
  if (digest === undefined) return null;
  return {
    digest: digest as Pbkdf2Hash['digest'],
    iterations: Number(iterations),
    salt: Buffer.from(salt, 'base64'),
    key: Buffer.from(key, 'base64'),
  };
}

/** Returns null unless the text is an scrypt hash in the format in which hashes are stored. */
export function parseScrypt(passwordHash: string): ScryptHash | null {
  const [, ln, r, p, salt = '', key = ''] = SCRYPT.exec(passwordHash) ?? [];
  if (ln === undefined) return null;
  return {
    N: 2 ** Number(ln),
    r: Number(r),
    p: Number(p),
    salt: Buffer.from(salt, 'base64'),
    key: Buffer.from(key, 'base64'),
  };
}

/** Returns the memory in KiB that the verification of an accepted hash needs. */
export function memoryOf(passwordHash: string): number {
  const scrypt = parseScrypt(passwordHash);
  return scrypt ? scryptBytes(scrypt) / 1024 : Number(ARGON2.exec(passwordHash)?.[1] ?? 0);
}

/** Returns the memory in bytes that OpenSSL needs: 128 × r × N (RFC 7914 2), p blocks, and two blocks of work space. */
export function scryptBytes({ N, r, p }: ScryptHash): number {
  return 128 * r * (N + p + 2);
}

/** Returns algorithm and parameters of an accepted hash, without salt and hash. */
export function kindOf(passwordHash: string): string {
  return passwordHash
    .split('$')
    .slice(1, isBcrypt(passwordHash) ? -1 : -2)
    .join('$');
}

/** Reason to reject a hash. Costs have a maximum. */
export type HashProblem =
  | {
      readonly reason:
        'unreadable' | 'unknown' | 'base64' | 'argon2_parameters' | 'pbkdf2_length' | 'scrypt_n';
    }
  | { readonly reason: 'bcrypt_cost'; readonly min: number; readonly max: number }
  | {
      readonly reason: 'argon2_passes' | 'argon2_memory' | 'argon2_work' | 'scrypt_memory' | 'scrypt_work';
      readonly max: number;
    }
  | { readonly reason: 'pbkdf2_iterations'; readonly bytes: number; readonly max: number }
  | { readonly reason: 'scrypt_parameters'; readonly r: number; readonly p: number };

/** Returns the reason to reject a hash, or null. Verifying an accepted hash cannot exhaust memory or CPU. */
export function passwordHashProblem(passwordHash: string): HashProblem | null {
  const bcrypt = BCRYPT.exec(passwordHash);
  if (bcrypt) return bcryptProblem(Number(bcrypt[1]));
  const phc = ARGON2.exec(passwordHash) ?? SCRYPT.exec(passwordHash) ?? PBKDF2.exec(passwordHash);
  if (!phc) return { reason: 'unknown' };
  if (!phc.slice(4).every(isBase64)) return { reason: 'base64' };
  const pbkdf2 = parsePbkdf2(passwordHash);
  if (pbkdf2) return pbkdf2Problem(pbkdf2, Number(phc[3]));
  const scrypt = parseScrypt(passwordHash);
  return scrypt ? scryptProblem(scrypt) : argon2Problem(phc);
}

function bcryptProblem(cost: number): HashProblem | null {
  const [min, max] = [MIN_BCRYPT_COST, MAX_BCRYPT_COST];
  return cost >= min && cost <= max ? null : { reason: 'bcrypt_cost', min, max };
}

function argon2Problem([, m, t, p, salt = '']: readonly string[]): HashProblem | null {
  const [memory, passes, lanes] = [Number(m), Number(t), Number(p)];
  // RFC 9106 3.1: at least 8 KiB for each lane.
  if (lanes > MAX_LANES || memory < 8 * lanes || salt.length < MIN_ARGON2_SALT)
    return { reason: 'argon2_parameters' };
  if (passes > MAX_PASSES) return { reason: 'argon2_passes', max: MAX_PASSES };
  if (memory > MAX_MEMORY) return { reason: 'argon2_memory', max: MAX_MEMORY };
  return memory * passes > MAX_ARGON2_WORK ? { reason: 'argon2_work', max: MAX_ARGON2_WORK } : null;
}

function pbkdf2Problem({ digest, iterations, key }: Pbkdf2Hash, length: number): HashProblem | null {
  if (length !== key.length) return { reason: 'pbkdf2_length' };
  const { bytes, maxRounds: max } = PBKDF2_DIGESTS[digest];
  // RFC 8018 5.2: each block of the hash costs all iterations.
  return iterations * Math.ceil(length / bytes) <= max ? null : { reason: 'pbkdf2_iterations', bytes, max };
}

function scryptProblem({ N, r, p }: ScryptHash): HashProblem | null {
  if (r > MAX_SCRYPT_R || p > MAX_LANES)
    return { reason: 'scrypt_parameters', r: MAX_SCRYPT_R, p: MAX_LANES };
  // RFC 7914 2.
  if (N >= 2 ** (16 * r)) return { reason: 'scrypt_n' };
  const memory = (128 * N * r) / 1024;
  if (memory > MAX_MEMORY) return { reason: 'scrypt_memory', max: MAX_MEMORY };
  return memory * p > MAX_SCRYPT_WORK ? { reason: 'scrypt_work', max: MAX_SCRYPT_WORK } : null;
}
