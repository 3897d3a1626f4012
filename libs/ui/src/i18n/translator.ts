import { IntlMessageFormat } from 'intl-messageformat';
import { LRUCache } from 'lru-cache';
import type { Locale } from '#oauth/locale.js';
import { type ScopeAccess, ScopeCatalogue } from '#oauth/scope.js';
import { type Fragment, html, type Html, isolated } from '../html.js';

/** Tags that every message can use. A message with `<a>` needs a value from `link`. */
const TAGS = { b: (chunks: Fragment[]) => html`<strong>${chunks}</strong>` };

/** Page texts by language. @param Id ids of the messages of an app */
export type Catalogues<Id extends string> = Readonly<Record<Locale, Readonly<Record<Id, string>>>>;

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
