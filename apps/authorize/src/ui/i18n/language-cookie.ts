import { Injectable } from '@nestjs/common';
import { isLocale, type Locale } from '#oauth/locale.js';
import { AuthorizeConfiguration } from '../../authorize.configuration.js';

/** Seconds; a year. */
const LIFETIME = 365 * 24 * 60 * 60;

/**
 * Remembers the language setting of who logged in with a browser last, for pages that know nobody: errors, and the
 * login after a log-out. Holds a language and nothing else, so it needs no protection, and stays when its owner
 * logs out.
 */
@Injectable()
export class LanguageCookie {
  private readonly name: string;
  private readonly attributes: string;
  private readonly inHeader: RegExp;

  constructor({ AUTH_URL }: AuthorizeConfiguration) {
    const secure = AUTH_URL.startsWith('https:');
    // The prefix keeps other hosts of the same domain from planting it (RFC 6265bis 4.1.3.2).
    this.name = secure ? '__Host-language' : 'language';
    this.inHeader = new RegExp(`(?:^|;) *${this.name}=([a-z]{2}) *(?:;|$)`);
    this.attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  }

  /** Null when the header has none, or one that is no language of ours (any more). */
  read(header: string | undefined): Locale | null {
    const value = this.inHeader.exec(header ?? '')?.[1] ?? null;
    return isLocale(value) ? value : null;
  }

  /**
   * The Set-Cookie headers that make the browser remember a user's setting; without one, those that make it forget
   * another's. None when it is as it should be already.
   */
  keep(header: string | undefined, setting: string | null): string[] {
    if (isLocale(setting)) return [`${this.name}=${setting}; ${this.attributes}; Max-Age=${LIFETIME}`];
    const has = header?.includes(`${this.name}=`) ?? false;
    return has ? [`${this.name}=; ${this.attributes}; Max-Age=0`] : [];
  }
}
