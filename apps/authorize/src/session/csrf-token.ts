import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a form does; a token of one form is no good in another. */
export type FormPurpose =
  'login' | 'logout' | 'logout_everywhere' | 'consent' | 'language' | 'revoke' | 'revoke_all';

/** Name of the hidden field. */
export const CSRF_FIELD = 'csrf_token';

/**
 * The token of a form: HMAC-SHA-256 keyed with the browser's cookie. No other site can read that cookie, and it is
 * 256 random bits, so that nothing has to be stored and the server needs no secret.
 */
export function csrfToken(cookie: string, purpose: FormPurpose): string {
  return mac(cookie, purpose).toString('base64url');
}

/** Compares in constant time. */
export function isCsrfToken(presented: unknown, cookie: string, purpose: FormPurpose): boolean {
  const bytes = Buffer.from(typeof presented === 'string' ? presented : '', 'base64url');
  const expected = mac(cookie, purpose);
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}

function mac(cookie: string, purpose: FormPurpose): Buffer {
  return createHmac('sha256', cookie).update(`csrf:${purpose}`).digest();
}
