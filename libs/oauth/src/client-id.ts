import { randomBytes } from 'node:crypto';

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * A new client identifier: `sc_` and 24 lower-case base32 characters (RFC 4648 6), 120 random bits. It is no
 * secret, but it has to be unique, and safe in a URL, a form and an HTTP Basic user name alike.
 *
 * @param random source of random bytes
 */
export function generateClientId(random: (size: number) => Buffer = randomBytes): string {
  return `sc_${base32(random(24))}`;
}

/** A new identifier of a resource server: as a client's, with a prefix that tells the two apart. */
export function generateResourceServerId(random: (size: number) => Buffer = randomBytes): string {
  return `rs_${base32(random(24))}`;
}

/** One character a byte: 256 is a multiple of 32, so that the low five bits of a random byte are evenly spread. */
function base32(bytes: Buffer): string {
  return Array.from(bytes, (byte) => BASE32[byte & 31]).join('');
}
