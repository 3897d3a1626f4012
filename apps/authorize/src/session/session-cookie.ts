import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AuthorizeConfiguration } from '../authorize.configuration.js';

/**
 * The session cookie: 256 random bits. Before the login nothing is stored for it, and it only keys the CSRF tokens. The
 * login replaces it by a new value, which names the session.
 */
@Injectable()
export class SessionCookie {
  private readonly name: string;
  private readonly attributes: string;
  private readonly inHeader: RegExp;

  constructor({ AUTH_URL }: AuthorizeConfiguration) {
    const secure = AUTH_URL.startsWith('https:');
    // The prefix keeps other hosts of the same domain from setting it (RFC 6265bis 4.1.3.2).
    this.name = secure ? '__Host-session' : 'session';
    this.inHeader = new RegExp(`(?:^|;) *${this.name}=([A-Za-z0-9_-]{43}) *(?:;|$)`);
    // Lax: users arrive by links from other sites, and must be recognized then.
    this.attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  }

  /** The value in a Cookie header; null if there is none, or one that this app did not make. */
  read(header: string | undefined): string | null {
    return this.inHeader.exec(header ?? '')?.[1] ?? null;
  }

  generate(random: (size: number) => Buffer = randomBytes): string {
    return random(32).toString('base64url');
  }

  /** The Set-Cookie header that sets it until the browser is closed. */
  set(value: string): string {
    return `${this.name}=${value}; ${this.attributes}`;
  }

  /** The Set-Cookie header that deletes it. */
  clear(): string {
    return `${this.name}=; ${this.attributes}; Max-Age=0`;
  }
}
