import { isEmail } from 'class-validator';
import { isLoopback } from './redirect-uri.js';

const MAX_LENGTH = 500;

/** Rejects control characters, which `isEmail` accepts in quotes, and lone surrogates, for which it throws. */
export function isEmailAddress(text: string): boolean {
  return !/\p{C}/u.test(text) && isEmail(text);
}

/**
 * Accepts links that pages show (RFC 7591 2): https, and http on the developer's machine. Rejects URLs with
 * credentials, and URLs that browsers rewrite.
 */
export function isLink(text: string): boolean {
  if (text.length > MAX_LENGTH || !/^https?:\/\/[!-~]+$/.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname, username, password, href } = new URL(text);
  const isWritten = href === text || href === `${text}/`;
  return isWritten && username + password === '' && (protocol === 'https:' || isLoopback(hostname));
}

export function isContact(text: string): boolean {
  return isLink(text) || isEmailAddress(text);
}

export function isJwksUri(text: string): boolean {
  return isLink(text) && !text.includes('#');
}
