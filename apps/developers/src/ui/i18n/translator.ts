import type { Locale } from '#oauth/locale.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import type { Problem } from '#platform/validation/problem.js';
import { CatalogueTranslator } from '#ui/i18n.js';
import { type MessageId, MESSAGES } from './messages.js';

export class Translator extends CatalogueTranslator<MessageId> {
  private readonly times: Intl.DateTimeFormat;

  constructor(
    locale: Locale,
    region: string = locale,
    private readonly known?: ScopeCatalogue,
  ) {
    super(MESSAGES, locale, region, known);
    this.times = new Intl.DateTimeFormat(region, {
      dateStyle: 'medium',
      timeStyle: 'short',
      timeZone: 'UTC',
      calendar: 'gregory',
    });
  }

  /** Returns several texts, for example the headings of a table. */
  texts(...ids: readonly MessageId[]): string[] {
    return ids.map((id) => this.text(id));
  }

  /** Returns the user's text of a scope as plain text, in English if the language lacks it. */
  scopeText(name: string): string {
    const texts = this.known?.find(name)?.texts;
    return texts?.[this.locale] ?? texts?.en ?? name;
  }

  /** Returns the text of a problem at its field; a general text for a problem that no form of the portal causes. */
  problem({ id, values }: Pick<Problem, 'id' | 'values'>): string {
    const given = (values ?? {}) as Readonly<Record<string, string | number>>;
    const { href = '', protocol = '' } = URL.parse(String(given['given'])) ?? {};
    const variant = given['reason'] ?? given['of'] ?? given['status'] ?? given['id'];
    const message = [`problem.${id}.${variant}`, `problem.${id}`].find(isMessage) ?? 'problem.other';
    return this.text(message, { href, scheme: protocol.slice(0, -1), ...given });
  }

  /** Formats a time in UTC, like the log of an application. */
  time(time: Date): string {
    return `${this.times.format(time)} UTC`;
  }
}

export function isMessage(id: string): id is MessageId {
  return Object.hasOwn(MESSAGES.en, id);
}
