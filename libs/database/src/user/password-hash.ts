/** The parameters of our own hashes: OWASP's password storage cheat sheet recommends 19 MiB of memory, two passes, one lane. */
export const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 };

/** What begins every hash with these parameters. */
const OURS = `$argon2id$v=19$m=${PARAMETERS.memoryCost},t=${PARAMETERS.timeCost},p=${PARAMETERS.parallelism}$`;

/**
 * PHC string format, without secret key and associated data: these are not in the string. A number has no leading zero: the
 * library refuses one by an exception, which would fail every login that is verified against the hash.
 */
const ARGON2 =
  /^\$argon2(?:id|i|d)\$(?:v=(?:16|19)\$)?m=([1-9]\d{0,9}),t=([1-9]\d{0,9}),p=([1-9]\d{0,2})\$([A-Za-z0-9+/]{11,64})\$([A-Za-z0-9+/]{22,86})$/;
/** Not $2$, which has no defined encoding of characters, and not $2x$, which is computed by a faulty algorithm. */
const BCRYPT = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;

/**
 * KiB: what RFC 9106 4 recommends where memory is scarce, and the defaults of PHP, node-argon2 and argon2-cffi. An authorize
 * process checks four passwords at once: 256 MiB.
 */
const MAX_MEMORY = 65_536;
/** KiB times passes: about half a second of CPU. */
const MAX_WORK = 8 * MAX_MEMORY;
const MAX_LANES = 16;
/** About a second of CPU; each step doubles it. */
const MAX_BCRYPT_COST = 14;
const MIN_BCRYPT_COST = 4;

/** Of a whole number of bytes, in the one spelling without spare bits (RFC 4648 3.5), which the library demands. */
const isBase64 = (text: string): boolean =>
  Buffer.from(text, 'base64').toString('base64').replaceAll('=', '') === text;

export const isBcrypt = (passwordHash: string): boolean => BCRYPT.test(passwordHash);

/** Whether `hashPassword` makes such a hash. Others are replaced at the user's next login, so that every login costs the same. */
export const isCurrent = (passwordHash: string): boolean => passwordHash.startsWith(OURS);

/** Says why a password hash is refused; null if it is accepted. A hash must not make a login exhaust memory or CPU. */
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
