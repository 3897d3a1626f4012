/** Parameters of OWASP's password storage cheat sheet: 19 MiB of memory, two passes, one lane. */
export const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 };

const CURRENT_PREFIX = `$argon2id$v=19$m=${PARAMETERS.memoryCost},t=${PARAMETERS.timeCost},p=${PARAMETERS.parallelism}$`;

/** PHC string format. Rejects a number with a leading zero, on which the library throws. */
const ARGON2 =
  /^\$argon2(?:id|i|d)\$(?:v=(?:16|19)\$)?m=([1-9]\d{0,9}),t=([1-9]\d{0,9}),p=([1-9]\d{0,2})\$([A-Za-z0-9+/]{11,64})\$([A-Za-z0-9+/]{22,86})$/;
/** Excludes $2$ (undefined character encoding) and $2x$ (faulty algorithm). */
const BCRYPT = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;

/** In KiB, the low-memory recommendation of RFC 9106 4. A process verifies four passwords concurrently: 256 MiB. */
const MAX_MEMORY = 65_536;
/** In KiB × passes: about half a second of CPU. */
const MAX_WORK = 8 * MAX_MEMORY;
const MAX_LANES = 16;
/** About a second of CPU; each increment doubles the time. */
const MAX_BCRYPT_COST = 14;
const MIN_BCRYPT_COST = 4;

/** Canonical base64 (RFC 4648 3.5), as the library requires. */
const isBase64 = (text: string): boolean =>
  Buffer.from(text, 'base64').toString('base64').replaceAll('=', '') === text;

export const isBcrypt = (passwordHash: string): boolean => BCRYPT.test(passwordHash);

/** Returns false for other parameters: the next login replaces such a hash, so that every login costs the same. */
export const hasCurrentParameters = (passwordHash: string): boolean =>
  passwordHash.startsWith(CURRENT_PREFIX);

/** Returns the reason to reject a hash, or null. Verifying an accepted hash cannot exhaust memory or CPU. */
export function passwordHashProblem(passwordHash: string): string | null {
  const bcrypt = BCRYPT.exec(passwordHash);
  if (bcrypt) {
    const cost = Number(bcrypt[1]);
    if (cost >= MIN_BCRYPT_COST && cost <= MAX_BCRYPT_COST) return null;
    return `its bcrypt cost must be from ${MIN_BCRYPT_COST} to ${MAX_BCRYPT_COST}`;
  }
  const argon2 = ARGON2.exec(passwordHash);
  if (!argon2) return 'it must be an argon2 PHC string ($argon2id$…) or bcrypt ($2a$, $2b$ or $2y$)';
  if (!argon2.slice(4).every(isBase64)) return 'its salt or hash is not base64 without padding';
  const [memory = 0, passes = 0, lanes = 0] = argon2.slice(1, 4).map(Number);
  // RFC 9106 3.1: at least 8 KiB for each lane.
  if (lanes < 1 || lanes > MAX_LANES || passes < 1 || memory < 8 * lanes)
    return 'its argon2 parameters are not valid';
  if (memory > MAX_MEMORY) return `its argon2 memory (m) must be at most ${MAX_MEMORY}`;
  if (memory * passes > MAX_WORK) return `its argon2 memory times passes (m × t) must be at most ${MAX_WORK}`;
  return null;
}
