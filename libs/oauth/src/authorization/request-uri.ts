import { createHash, randomBytes } from 'node:crypto';

/** RFC 9126 2.2. What follows is 256 random bits, against guessing (7.1). */
const PREFIX = 'urn:ietf:params:oauth:request_uri:';
const REFERENCE = /^[A-Za-z0-9_-]{43}$/;

/**
 * A new request URI, known only to the client that gets it and to the browser that it sends.
 *
 * @param random source of random bytes
 */
export function generateRequestUri(random: (size: number) => Buffer = randomBytes): string {
  return PREFIX + random(32).toString('base64url');
}

/**
 * The id under which stores and logs know a pushed request: base64url of the SHA-256 of its reference, so that no
 * request can be opened with what Redis, a backup or a log holds.
 *
 * @returns null for what is no request URI of this service
 */
export function pushedRequestId(requestUri: string): string | null {
  const reference = requestUri.startsWith(PREFIX) ? requestUri.slice(PREFIX.length) : '';
  return REFERENCE.test(reference) ? createHash('sha256').update(reference).digest('base64url') : null;
}
