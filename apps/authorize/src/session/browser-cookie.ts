import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AuthorizeConfiguration } from '../authorize.configuration.js';

/**
 * The cookie that everything hangs on: 256 random bits. Before login nothing is stored of it, it only keys the CSRF tokens;
 * a login gives the browser a new one, which names its session.
 */
@Injectable()
export class BrowserCookie {
  private readonly name: string;
  private readonly attributes: string;
  private readonly inHeader: RegExp;

  constructor({ AUTH_URL }: AuthorizeConfiguration) {
    const secure = AUTH_URL.startsWith('https:');
    // The prefix keeps other hosts of the same domain from planting it (RFC 6265bis 4.1.3.2).
    this.name = secure ? '__Host-session' : 'session';
    this.inHeader = new RegExp(`(?:^|;) *${this.name}=([A-Za-z0-9_-]{43}) *(?:;|$)`);
    // Lax, since users come from other sites and must be recognised when they do.
    this.attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  }

  /** The value in a Cookie header; null when there is none, or one that this app did not make. */
  read(header: string | undefined): string | null {
    return this.inHeader.exec(header ?? '')?.[1] ?? null;
  }

  /** A new value. */
  make(random: (size: number) => Buffer = randomBytes): string {
    return random(32).toString('base64url');
  }

  /** The Set-Cookie header that gives a value to the browser; it forgets it when it is closed. */
  give(value: string): string {
    return `${this.name}=${value}; ${this.attributes}`;
  }

  /** The Set-Cookie header that takes it away. */
  take(): string {
    return `${this.name}=; ${this.attributes}; Max-Age=0`;
  }
}
