import { createHash } from 'node:crypto';

/**
 * The name under which Redis and PostgreSQL know a grant: base64url of SHA-256(handle), 43 characters.
 * It can be stored and logged, since no token can be made from it.
 */
export function grantId(handle: Buffer): string {
  return createHash('sha256').update(handle).digest('base64url');
}
