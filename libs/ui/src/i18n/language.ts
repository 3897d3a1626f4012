import { match } from '@formatjs/intl-localematcher';
import Negotiator from 'negotiator';
import { LIMITS } from '#oauth/parameters.js';
import { localeTags } from '#oauth/authorization-request.js';
import { type Locale, LOCALES } from '#oauth/locale.js';
import { cookieName } from '../browser-cookie.js';

const COOKIE_LIFETIME = 365 * 24 * 60 * 60;

/**
 * Stores the language for pages without a user, such as errors and the login page after a log-out. The cookie needs no
 * protection.
 */
export class LanguageCookie {
  private readonly name: string;
  private readonly attributes: string;
  private readonly inHeader: RegExp;

  constructor(secure: boolean) {
    this.name = cookieName('language', secure);
    this.inHeader = new RegExp(`(?:^|;) *${this.name}=([a-z]{2}) *(?:;|$)`);
    this.attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  }

  read(header: string | undefined): Locale | null {
    const value = this.inHeader.exec(header ?? '')?.[1] ?? null;
    return isLocale(value) ? value : null;
  }

  keep(header: string | undefined, setting: string | null): string[] {
    if (isLocale(setting)) return [`${this.name}=${setting}; ${this.attributes}; Max-Age=${COOKIE_LIFETIME}`];
    const has = header?.includes(`${this.name}=`) ?? false;
    return has ? [`${this.name}=; ${this.attributes}; Max-Age=0`] : [];
  }
}

export interface LanguagePreferences {
  /** Languages that the application prefers, best first, separated by spaces (OpenID Connect Core 3.1.2.1). */
  readonly uiLocales?: string | null | undefined;
  readonly setting?: string | null | undefined;
  readonly remembered?: Locale | null | undefined;
  readonly acceptLanguage?: string | undefined;
}

/** Limits the cost of parsing a list of languages. Browsers send shorter lists. */
const MAX_TAGS = 20;
const MAX_HEADER = 1_000;

/** No tag in use is longer (RFC 5646 4.4.1). The cost of a lookup grows with the square of the length. */
const MAX_TAG = 35;

/** Prefers, in this order, the application's request, the user's setting, the cookie, and the browser's languages. */
export function chooseLocale({
  uiLocales,
  setting,
  remembered,
  acceptLanguage,
}: LanguagePreferences): Locale {
  return (
    firstSupported(tagsOf(uiLocales ?? '')) ??
    (setting !== undefined && isLocale(setting) ? setting : null) ??
    remembered ??
    firstSupported(acceptedTags(acceptLanguage)) ??
    LOCALES[0]
  );
}

/** Ignores a list that is too long; the authorization endpoint rejects the request. */
function tagsOf(uiLocales: string): string[] {
  return uiLocales.length > LIMITS.ui_locales ? [] : localeTags(uiLocales).split(' ');
}

/** Matches prefixes: `pt` for pt-BR (RFC 4647 3.4). */
function firstSupported(tags: readonly string[]): Locale | null {
  for (const tag of tags.slice(0, MAX_TAGS)) {
    const locale = lookup(tag);
    if (isLocale(locale)) return locale;
  }
  return null;
}

function lookup(tag: string): string | null {
  if (tag.length > MAX_TAG) return null;
  try {
    return match([tag], LOCALES, 'und', { algorithm: 'lookup' });
  } catch {
    return null; // not a language tag
  }
}

function acceptedTags(header = ''): string[] {
  return new Negotiator({ headers: { 'accept-language': header.slice(0, MAX_HEADER) } }).languages();
}

/** Language and region, with an optional script in between (RFC 5646 2.1). */
const REGIONAL = /^([a-z]{2,3})(?:-[a-z]{4})?-([a-z]{2}|\d{3})(?![a-z\d])/i;

/** Adds the region that the browser prefers for the language (RFC 9110 12.5.4), for example `en-GB`. */
export function dateLocale(locale: Locale, acceptLanguage?: string): string {
  for (const tag of acceptedTags(acceptLanguage).slice(0, MAX_TAGS)) {
    const [, language = '', region = ''] = REGIONAL.exec(tag) ?? [];
    if (language.toLowerCase() === locale) return `${locale}-${region.toUpperCase()}`;
  }
  return locale;
}

export function isLocale(tag: string | null): tag is Locale {
  return (LOCALES as readonly (string | null)[]).includes(tag);
}
