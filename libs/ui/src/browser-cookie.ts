import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { html, type Html } from './html.js';

/**
 * `__Host-` keeps other hosts of the domain from setting the cookie (RFC 6265bis 4.1.3.2), but requires https. On `localhost`,
 * where ports share cookies (RFC 6265 8.5), the prefix protects the cookies of the application.
 */
export function cookieName(name: string, secure: boolean): string {
  return `${secure ? '__Host-' : 'oauth_service_'}${name}`;
}

/** Kept until the browser is closed. */
export abstract class RandomCookie {
  private readonly name: string;
  private readonly attributes: string;
  private readonly inHeader: RegExp;

  constructor(name: string, origin: string) {
    const secure = origin.startsWith('https:');
    this.name = cookieName(name, secure);
    this.inHeader = new RegExp(`(?:^|;) *${this.name}=([A-Za-z0-9_-]{43}) *(?:;|$)`);
    // Lax, so that users who follow links and redirects from other sites are recognized.
    this.attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  }

  read(header: string | undefined): string | null {
    return this.inHeader.exec(header ?? '')?.[1] ?? null;
  }

  generate(random: (size: number) => Buffer = randomBytes): string {
    return random(32).toString('base64url');
  }

  set(value: string): string {
    return `${this.name}=${value}; ${this.attributes}`;
  }

  clear(): string {
    return `${this.name}=; ${this.attributes}; Max-Age=0`;
  }
}

export const CSRF_FIELD = 'csrf_token';

/**
 * Keyed with the session cookie, 256 random bits that other sites cannot read. The server needs no storage and no secret.
 *
 * @param purpose of the form: the token of one purpose is not valid for another
 */
export function csrfToken(cookie: string, purpose: string): string {
  return mac(cookie, purpose).toString('base64url');
}

export function csrfField(cookie: string, purpose: string): Html {
  return html`<input type="hidden" name="${CSRF_FIELD}" value="${csrfToken(cookie, purpose)}" />`;
}

export function isCsrfToken(presented: unknown, cookie: string, purpose: string): boolean {
  const bytes = Buffer.from(typeof presented === 'string' ? presented : '', 'base64url');
  const expected = mac(cookie, purpose);
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}

function mac(cookie: string, purpose: string): Buffer {
  return createHmac('sha256', cookie).update(`csrf:${purpose}`).digest();
}
