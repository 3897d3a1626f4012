import { match } from '@formatjs/intl-localematcher';
import Negotiator from 'negotiator';
import { LIMITS } from '#oauth/authorization/limits.js';
import { isLocale, type Locale, LOCALES } from '#oauth/locale.js';

export interface Wishes {
  /** The application's, space-separated in order of preference (OpenID Connect Core 3.1.2.1). */
  readonly uiLocales?: string | null | undefined;
  /** The user's own setting. */
  readonly setting?: string | null | undefined;
  /** What the browser was told to remember of it, where nobody is known to be logged in. */
  readonly remembered?: Locale | null | undefined;
  /** The browser's (RFC 9110 12.5.4). */
  readonly acceptLanguage?: string | undefined;
}

/** More than any browser sends, and the end of what a header may cost. */
const MOST_TAGS = 20;
const LONGEST_HEADER = 1_000;

/** Characters that any tag in use has room in (RFC 5646 4.4.1). To look one up costs the square of its length. */
const LONGEST_TAG = 35;

/** The language of a page: what the request asks for, else what the user has set, else what the browser prefers. */
export function chooseLocale({ uiLocales, setting, remembered, acceptLanguage }: Wishes): Locale {
  return (
    first(listed(uiLocales ?? '')) ??
    (setting !== undefined && isLocale(setting) ? setting : null) ??
    remembered ??
    first(preferred(acceptLanguage ?? '')) ??
    LOCALES[0]
  );
}

/** The tags of an application's list. One that an authorization request is refused for is none on other pages. */
function listed(uiLocales: string): string[] {
  return uiLocales.length > LIMITS.ui_locales ? [] : uiLocales.split(' ');
}

/** The first language of ours that one of the tags means, `pt` for pt-BR (RFC 4647 3.4). */
function first(tags: readonly string[]): Locale | null {
  for (const tag of tags.slice(0, MOST_TAGS)) {
    const found = lookup(tag);
    if (isLocale(found)) return found;
  }
  return null;
}

function lookup(tag: string): string | null {
  if (tag.length > LONGEST_TAG) return null;
  try {
    return match([tag], LOCALES, 'und', { algorithm: 'lookup' });
  } catch {
    return null; // not a language tag
  }
}

/** The tags of an Accept-Language header, best first. */
function preferred(header: string): string[] {
  return new Negotiator({ headers: { 'accept-language': header.slice(0, LONGEST_HEADER) } }).languages();
}
