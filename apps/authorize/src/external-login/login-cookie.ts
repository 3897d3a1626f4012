import { Injectable } from '@nestjs/common';
import { AuthorizeConfiguration } from '../authorize.configuration.js';

/**
 * Binds a login to the browser that began it: 256 random bits. Otherwise an attacker could let a victim finish the
 * attacker's own login (login CSRF, RFC 6749 10.12). Not the session cookie, which changes with each login: the logins of
 * several tabs must all finish.
 */
@Injectable()
export class LoginCookie {
  private readonly name: string;
  private readonly attributes: string;
  private readonly inHeader: RegExp;

  constructor({ AUTH_URL }: AuthorizeConfiguration) {
    const secure = AUTH_URL.startsWith('https:');
    // The prefix keeps other hosts of the same domain from setting it (RFC 6265bis 4.1.3.2).
    this.name = secure ? '__Host-login' : 'login';
    this.inHeader = new RegExp(`(?:^|;) *${this.name}=([A-Za-z0-9_-]{43}) *(?:;|$)`);
    // Lax: the browser returns by a redirect of another site, and must send the cookie then.
    this.attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  }

  /** Reads the cookie from a Cookie header; null for a missing or malformed cookie. */
  read(header: string | undefined): string | null {
    return this.inHeader.exec(header ?? '')?.[1] ?? null;
  }

  /** The Set-Cookie header that sets it until the browser is closed. */
  set(value: string): string {
    return `${this.name}=${value}; ${this.attributes}`;
  }
}
