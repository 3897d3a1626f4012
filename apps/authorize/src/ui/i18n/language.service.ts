import type { IncomingHttpHeaders } from 'node:http';
import { Injectable, Logger } from '@nestjs/common';
import type { Locale } from '#oauth/locale.js';
import { untranslated } from '#scopes/scope-file.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import { CatalogueTranslator, chooseLocale, dateLocale, LanguageCookie } from '#ui/i18n.js';
import { UiOptions } from '../ui-options.js';
import { type MessageId, MESSAGES } from './messages.js';

export class Translator extends CatalogueTranslator<MessageId> {
  /** @param dateLocale the language with the region of the reader */
  constructor(locale: Locale, dateLocale?: string, scopes?: ScopeCatalogue) {
    super(MESSAGES, locale, dateLocale, scopes);
  }
}

export interface LanguageContext {
  readonly headers: IncomingHttpHeaders;
  readonly query?: string;
  /** `ui_locales` of the validated request. The query of a pushed request does not contain it. */
  readonly uiLocales?: string | null;
  readonly user?: { readonly locale: string | null } | null;
}

@Injectable()
export class LanguageService {
  private readonly cookie: LanguageCookie;

  constructor(
    { secure }: UiOptions,
    private readonly scopes: ScopeCatalogue,
  ) {
    this.cookie = new LanguageCookie(secure);
    const missing = untranslated(scopes);
    if (missing.length > 0)
      new Logger(LanguageService.name).warn(
        `scopes are shown in English where a text is missing: ${missing.join(', ')}`,
      );
  }

  translatorFor({ headers, query = '', uiLocales, user }: LanguageContext): Translator {
    const acceptLanguage = headers['accept-language'];
    const locale = chooseLocale({
      uiLocales: uiLocales ?? new URLSearchParams(query).get('ui_locales'),
      setting: user?.locale,
      // The cookie may contain the setting of another user of this browser.
      remembered: user ? null : this.cookie.read(headers.cookie),
      acceptLanguage,
    });
    return new Translator(locale, dateLocale(locale, acceptLanguage), this.scopes);
  }

  /** @returns Set-Cookie headers that store the setting of the user, or delete a stored setting if the user has none */
  remember(cookieHeader: string | undefined, setting: string | null): string[] {
    return this.cookie.keep(cookieHeader, setting);
  }
}
