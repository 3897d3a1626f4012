import type { IncomingHttpHeaders } from 'node:http';
import { Injectable } from '@nestjs/common';
import { chooseLocale } from './choose-locale.js';
import { dateLocale } from './date-locale.js';
import { LanguageCookie } from './language-cookie.js';
import { Words } from './words.js';

export interface Reader {
  readonly headers: IncomingHttpHeaders;
  /** The raw query of the request; its `ui_locales` counts, an unreadable one does not. */
  readonly query?: string;
  /** What an authorization request says, where it was pushed and the query says nothing. */
  readonly uiLocales?: string | null;
  /** Null when nobody is known to be logged in. */
  readonly user?: { readonly locale: string | null } | null;
}

/** Finds the words for whoever reads a page. */
@Injectable()
export class LanguageService {
  constructor(private readonly cookie: LanguageCookie) {}

  for({ headers, query = '', uiLocales, user }: Reader): Words {
    const locale = chooseLocale({
      uiLocales: uiLocales ?? new URLSearchParams(query).get('ui_locales'),
      setting: user?.locale,
      // Who is logged in and has set nothing must not get what somebody else had set.
      remembered: user ? null : this.cookie.read(headers.cookie),
      acceptLanguage: headers['accept-language'],
    });
    return new Words(locale, dateLocale(locale, headers['accept-language']));
  }
}
