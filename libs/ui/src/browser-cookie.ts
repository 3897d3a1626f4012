import type { IncomingHttpHeaders } from 'node:http';
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { html, type Html } from './html.js';

/**
 * The prefix `__Host-` prevents other hosts from setting the cookie (RFC 6265bis 4.1.3.2), but requires https. On
 * localhost, all ports share the cookie (RFC 6265 8.5).
 */
export function cookieName(name: string, secure: boolean): string {
  return `${secure ? '__Host-' : 'oauth_service_'}${name}`;
}

/** Cookie with a random value. Browsers delete the cookie when they are closed. */
export abstract class RandomCookie {
  private readonly name: string;
  private readonly attributes: string;
  private readonly inHeader: RegExp;

  constructor(name: string, origin: string) {
    const secure = origin.startsWith('https:');
    this.name = cookieName(name, secure);
    this.inHeader = new RegExp(`(?:^|;) *${this.name}=([A-Za-z0-9_-]{43}) *(?:;|$)`);
    // SameSite is Lax, so that users who follow links and redirects from other sites are recognized.
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

/** MAC keyed with the session cookie, which other sites cannot read. @param purpose form that the token protects */
export function csrfToken(cookie: string, purpose: string): string {
  return mac(cookie, purpose).toString('base64url');
}

/**
 * Returns the name of the header that shows that another site sent a form. Accepts the origin "null", which browsers
 * send with every form because of our Referrer-Policy, no-referrer. Browsers that omit both headers are protected by the
 * CSRF token alone.
 */
export function foreignSender(
  { 'sec-fetch-site': site, origin }: IncomingHttpHeaders,
  ownOrigin: string,
): 'sec-fetch-site' | 'origin' | null {
  if (site !== undefined && site !== 'same-origin') return 'sec-fetch-site';
  return origin !== undefined && origin !== 'null' && origin !== ownOrigin ? 'origin' : null;
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
