import Negotiator from 'negotiator';
import type { Locale } from '#oauth/locale.js';

/** More than any browser sends, and the end of what a header may cost. */
const MOST_TAGS = 20;
const LONGEST_HEADER = 1_000;

/** A language and its region, with a script in between or not (RFC 5646 2.1); what follows is no matter of dates. */
const REGIONAL = /^([a-z]{2,3})(?:-[a-z]{4})?-([a-z]{2}|\d{3})(?![a-z\d])/i;

/**
 * How the reader of a page writes days: in its language, and as in the region that the browser prefers with that language
 * (RFC 9110 12.5.4), `en-GB`; the language alone where it names none.
 */
export function dateLocale(locale: Locale, acceptLanguage = ''): string {
  const header = acceptLanguage.slice(0, LONGEST_HEADER);
  const tags = new Negotiator({ headers: { 'accept-language': header } }).languages();
  for (const tag of tags.slice(0, MOST_TAGS)) {
    const [, language = '', region = ''] = REGIONAL.exec(tag) ?? [];
    if (language.toLowerCase() === locale) return `${locale}-${region.toUpperCase()}`;
  }
  return locale;
}
