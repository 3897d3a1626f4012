import { type HashProblem, passwordHashProblem } from './password-hash.js';

/** Unpadded base64 of a salt or hash. */
const encoded = (text: string, encoding: BufferEncoding): string =>
  Buffer.from(text, encoding).toString('base64').replaceAll('=', '');

function pbkdf2(digest: string, iterations: string, salt: string, key: string): string {
  return `$pbkdf2-${digest}$i=${iterations},l=${Buffer.from(key, 'base64').length}$${salt}$${key}`;
}

/** N is a power of two (RFC 7914 2); any other number yields a hash that is refused. */
function scrypt([N, r, p]: readonly string[], salt: string, key: string): string {
  return `$scrypt$ln=${Math.log2(Number(N))},r=${r},p=${p}$${salt}$${key}`;
}

/** Formats of other frameworks, and their conversion to the formats in which hashes are stored. */
const FORMATS: readonly (readonly [RegExp, (...groups: string[]) => string])[] = [
  // Django
  [/^(?:argon2|bcrypt\$)(\$.+)$/, (hash = '') => hash],
  [
    /^pbkdf2_(sha1|sha256)\$(\d+)\$([^$]+)\$([\w+/=]+)$/,
    (digest = '', iterations = '', salt = '', key = '') =>
      pbkdf2(digest, iterations, encoded(salt, 'utf8'), encoded(key, 'base64')),
  ],
  [
    /^scrypt\$(\d+)\$([^$]+)\$(\d+)\$(\d+)\$([\w+/=]+)$/,
    (N = '', salt = '', r = '', p = '', key = '') =>
      scrypt([N, r, p], encoded(salt, 'utf8'), encoded(key, 'base64')),
  ],
  // Werkzeug
  [
    /^pbkdf2:(sha1|sha256|sha512):(\d+)\$([^$]+)\$((?:[\da-f]{2})+)$/,
    (digest = '', iterations = '', salt = '', key = '') =>
      pbkdf2(digest, iterations, encoded(salt, 'utf8'), encoded(key, 'hex')),
  ],
  [
    /^scrypt:(\d+):(\d+):(\d+)\$([^$]+)\$((?:[\da-f]{2})+)$/,
    (N = '', r = '', p = '', salt = '', key = '') =>
      scrypt([N, r, p], encoded(salt, 'utf8'), encoded(key, 'hex')),
  ],
  // passlib, whose base64 has dots in place of plus signs, and the PHC string format
  [
    /^\$pbkdf2(?:-(sha1|sha256|sha512))?\$(?:i=)?(\d+)\$([\w./+]+)\$([\w./+]+)$/,
    (digest = 'sha1', iterations = '', salt = '', key = '') =>
      pbkdf2(digest, iterations, salt.replaceAll('.', '+'), key.replaceAll('.', '+')),
  ],
];

/**
 * Reads a password hash of the product: text, or a credential of Keycloak as an object or as JSON.
 * @returns the hash in the format in which it is stored, or the reason to reject it
 */
export function readPasswordHash(value: unknown): { readonly passwordHash: string } | HashProblem {
  const isCredential = typeof value === 'object' || (typeof value === 'string' && value.startsWith('{'));
  const given = isCredential ? hashOfKeycloak(value) : value;
  if (typeof given !== 'string') return { reason: 'unreadable' };
  const passwordHash = storedFormat(given);
  return passwordHashProblem(passwordHash) ?? { passwordHash };
}

function storedFormat(passwordHash: string): string {
  for (const [format, convert] of FORMATS) {
    const groups = format.exec(passwordHash)?.slice(1);
    if (groups) return convert(...groups);
  }
  return passwordHash;
}

interface KeycloakCredential {
  readonly algorithm?: unknown;
  readonly hashIterations?: unknown;
  /** Each value is a list of one text. */
  readonly additionalParameters?: Readonly<Record<string, unknown>> | null;
  readonly value?: unknown;
  readonly salt?: unknown;
}

/** Converts an element of `credentials` of a realm export. @returns null for another value */
function hashOfKeycloak(value: unknown): string | null {
  const credential = keycloakCredential(value);
  if (!credential) return null;
  const { algorithm, hashIterations, additionalParameters } = credential;
  const salt = encoded(textOf(credential.salt), 'base64');
  const key = encoded(textOf(credential.value), 'base64');
  const iterations = textOf(hashIterations);
  if (algorithm === 'argon2') {
    const { type, version, memory, parallelism } = additionalParameters ?? {};
    const number = textOf(version) === '1.0' ? 16 : 19;
    return `$argon2${textOf(type)}$v=${number}$m=${textOf(memory)},t=${iterations},p=${textOf(parallelism)}$${salt}$${key}`;
  }
  const pbkdf2Digest = /^pbkdf2(?:-(sha256|sha512))?$/.exec(textOf(algorithm));
  return pbkdf2Digest && pbkdf2(pbkdf2Digest[1] ?? 'sha1', iterations, salt, key);
}

/** Returns a text, a number, or the only element of a list as text, and an empty text for any other value. */
function textOf(value: unknown): string {
  const only: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return typeof only === 'string' || typeof only === 'number' ? String(only) : '';
}

/** `credentialData` and `secretData` are JSON texts. */
function keycloakCredential(value: unknown): KeycloakCredential | null {
  try {
    const { credentialData, secretData } = objectOf(value);
    const { value: key, salt } = objectOf(secretData);
    return { ...objectOf(credentialData), value: key, salt };
  } catch {
    return null;
  }
}

/** @throws TypeError or SyntaxError */
function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  const object: unknown = typeof value === 'string' ? JSON.parse(value) : value;
  if (typeof object !== 'object' || object === null) throw new TypeError('not an object');
  return object as Readonly<Record<string, unknown>>;
}
