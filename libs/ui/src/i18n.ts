import { match } from '@formatjs/intl-localematcher';
import { IntlMessageFormat } from 'intl-messageformat';
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import { localeTags } from '#oauth/authorization-request.js';
import { type Locale, LOCALES } from '#oauth/locale.js';
import { LIMITS } from '#oauth/parameters.js';
import { type ScopeAccess, ScopeCatalogue } from '#oauth/scope.js';
import { cookieName } from './browser-cookie.js';
import { type Fragment, html, type Html, isolated } from './html.js';

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

/** Tags that every message can use. A message with `<a>` needs a value from `link`. */
const TAGS = { b: (chunks: Fragment[]) => html`<strong>${chunks}</strong>` };

/** Page texts by language. @param Id ids of the messages of an app */
export type Catalogues<Id extends string> = Readonly<Record<Locale, Readonly<Record<Id, string>>>>;

/** Requires the English ids in every language, and no others. */
type SameIds<Messages extends Record<Locale, object>> = {
  readonly [L in Locale]: Record<keyof Messages['en'], string> &
    Partial<Record<Exclude<keyof Messages[L], keyof Messages['en']>, never>>;
};

/**
 * Combines an app's messages, one JSON file per language: ICU MessageFormat, in which `<b>` emphasizes and `<a>` is a
 * link. A missing or unknown id is a type error.
 */
export function catalogues<Messages extends Record<Locale, object>>(
  messages: Messages & SameIds<Messages>,
): Catalogues<Extract<keyof Messages['en'], string>> {
  return messages;
}

/** By message. */
const formats = new Map<string, IntlMessageFormat>();

/** Unicode blocks of right-to-left scripts, Hebrew to Adlam. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Bounded, because there are too many combinations of region and time zone. */
const dayFormats = new LRUCache<string, Intl.DateTimeFormat>({ max: 500 });

const NO_SCOPES = new ScopeCatalogue([]);

/** `access` is null for an undeclared scope. */
export interface ShownScope {
  readonly text: Fragment;
  readonly access: ScopeAccess | null;
}

export class CatalogueTranslator<Id extends string> {
  /** @param dateLocale the language with the region of the reader */
  constructor(
    private readonly messages: Catalogues<Id>,
    readonly locale: Locale,
    private readonly dateLocale: string = locale,
    private readonly catalogue: ScopeCatalogue = NO_SCOPES,
  ) {}

  get direction(): 'ltr' | 'rtl' {
    return this.locale === 'ar' ? 'rtl' : 'ltr';
  }

  /** Returns plain text, for example for titles and attributes. Isolates values where text directions differ. */
  text(id: Id, values: Readonly<Record<string, string | number>> = {}): string {
    const isolates = (value: string) => this.direction === 'rtl' || RIGHT_TO_LEFT.test(value);
    const shown = Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' && isolates(value) ? isolated(value) : value,
    ]);
    return String(this.format(id).format(Object.fromEntries(shown)));
  }

  /** Isolates strings: an Arabic name must not change the direction of the English sentence, or vice versa. */
  rich(id: Id, values: Readonly<Record<string, string | number | Html | Tag>> = {}): Html {
    const isolated = Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? html`<bdi>${value}</bdi>` : value,
    ]);
    return html`${this.format(id).format<Html>({ ...TAGS, ...Object.fromEntries(isolated) })}`;
  }

  /** @param timeZone IANA name; an unknown name counts as UTC */
  date(date: Date, timeZone: string): string {
    const key = `${this.dateLocale} ${timeZone}`;
    let format = dayFormats.get(key);
    if (!format) dayFormats.set(key, (format = dayFormat(this.dateLocale, timeZone)));
    return format.format(date);
  }

  scopes(names: readonly string[]): ShownScope[] {
    return this.catalogue.inOrder(names).map((name) => this.scope(name));
  }

  /** Falls back to English, marked for screen readers (WCAG 2.2, 3.1.2). An undeclared scope is shown by its name. */
  scope(name: string): ShownScope {
    const scope = this.catalogue.find(name);
    if (!scope) return { text: html`<code>${name}</code>`, access: null };
    const text = scope.texts[this.locale] ?? html`<span lang="en" dir="ltr">${scope.texts.en}</span>`;
    return { text, access: scope.access };
  }

  private format(id: Id): IntlMessageFormat {
    const message = this.messages[this.locale][id];
    const key = `${this.locale} ${message}`;
    let format = formats.get(key);
    if (!format) formats.set(key, (format = new IntlMessageFormat(message, this.locale)));
    return format;
  }
}

/** Falls back to UTC, because the time zone database differs between versions and a page must not fail. */
function dayFormat(locale: string, timeZone: string): Intl.DateTimeFormat {
  const long = { dateStyle: 'long', calendar: 'gregory' } as const;
  try {
    return new Intl.DateTimeFormat(locale, { ...long, timeZone });
  } catch {
    return new Intl.DateTimeFormat(locale, { ...long, timeZone: 'UTC' });
  }
}

export type Tag = (chunks: Fragment[]) => Html;

/** @param address URL on this site, or a validated URL */
export function link(address: string): Tag {
  return (chunks) => html`<a href="${address}">${chunks}</a>`;
}
