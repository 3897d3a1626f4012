import type { Locale } from '#oauth/locale.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import { type Catalogues, CatalogueTranslator } from '#ui/i18n/translator.js';
import { AR } from './ar.js';
import { DE } from './de.js';
import { EN, type MessageId } from './en.js';
import { ES } from './es.js';
import { FR } from './fr.js';
import { JA } from './ja.js';
import { PT } from './pt.js';

export const MESSAGES: Catalogues<MessageId> = {
  en: EN,
  de: DE,
  fr: FR,
  es: ES,
  pt: PT,
  ja: JA,
  ar: AR,
};

export class Translator extends CatalogueTranslator<MessageId> {
  /** @param dateLocale the language with the region of the reader */
  constructor(locale: Locale, dateLocale?: string, scopes?: ScopeCatalogue) {
    super(MESSAGES, locale, dateLocale, scopes);
  }
}
