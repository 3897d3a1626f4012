import { IntlMessageFormat } from 'intl-messageformat';
import { LRUCache } from 'lru-cache';
import type { Locale } from '#oauth/locale.js';
import { type Fragment, html, type Html, isolated } from '../html.js';
import { CATALOGUE, type MessageId } from './catalogue.js';

/** What goes into a message: a text, a number, or markup that is ready. */
export type Values = Readonly<Record<string, string | number | Html>>;

/** Tags that every message may use; `a` needs a value of its own, by `link`. */
const TAGS = { b: (chunks: Fragment[]) => html`<strong>${chunks}</strong>` };

const formats = new Map<string, IntlMessageFormat>();

/** Unicode blocks of right-to-left scripts, Hebrew to Adlam. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Regions times time zones are more than are ever read at once. */
const dayFormats = new LRUCache<string, Intl.DateTimeFormat>({ max: 500 });

/** The pages' texts in one language. */
export class Words {
  /** @param dateLocale how days are written: the language, and a region of it */
  constructor(
    readonly locale: Locale,
    private readonly dateLocale: string = locale,
  ) {}

  get direction(): 'ltr' | 'rtl' {
    return this.locale === 'ar' ? 'rtl' : 'ltr';
  }

  /**
   * Formats a message as plain text, for titles and attributes. Wraps values in bidi isolates where left-to-right and
   * right-to-left text meet.
   */
  text(id: MessageId, values: Readonly<Record<string, string | number>> = {}): string {
    const isolates = (value: string) => this.direction === 'rtl' || RIGHT_TO_LEFT.test(value);
    const shown = Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' && isolates(value) ? isolated(value) : value,
    ]);
    return String(this.format(id).format(Object.fromEntries(shown)));
  }

  /**
   * As markup. Values are escaped, and texts among them isolated: a name in Arabic must not turn the English sentence
   * around it, nor a name in English the Arabic one.
   */
  rich(id: MessageId, values: Readonly<Record<string, string | number | Html | Tag>> = {}): Html {
    const isolated = Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? html`<bdi>${value}</bdi>` : value,
    ]);
    return html`${this.format(id).format<Html>({ ...TAGS, ...Object.fromEntries(isolated) })}`;
  }

  /** A day, as the language writes it in the reader’s region. @param timeZone IANA name; one that is unknown here counts as UTC */
  date(date: Date, timeZone: string): string {
    const key = `${this.dateLocale} ${timeZone}`;
    let format = dayFormats.get(key);
    if (!format) dayFormats.set(key, (format = dayFormat(this.dateLocale, timeZone)));
    return format.format(date);
  }

  private format(id: MessageId): IntlMessageFormat {
    const key = `${this.locale} ${id}`;
    let format = formats.get(key);
    if (!format) formats.set(key, (format = new IntlMessageFormat(CATALOGUE[id][this.locale], this.locale)));
    return format;
  }
}

/** Time zones come and go with versions of their database, and a page must not fail for that. */
function dayFormat(locale: string, timeZone: string): Intl.DateTimeFormat {
  const long = { dateStyle: 'long', calendar: 'gregory' } as const;
  try {
    return new Intl.DateTimeFormat(locale, { ...long, timeZone });
  } catch {
    return new Intl.DateTimeFormat(locale, { ...long, timeZone: 'UTC' });
  }
}

/** Turns the text between a message's tags into markup. */
export type Tag = (chunks: Fragment[]) => Html;

/** The tag `<a>` of a message. @param address on this site, or one that was checked */
export function link(address: string): Tag {
  return (chunks) => html`<a href="${address}">${chunks}</a>`;
}
