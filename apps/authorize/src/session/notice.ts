import type { MessageId } from '../ui/i18n/catalogue.js';
import type { Words } from '../ui/i18n/words.js';
import { html, type Html } from '../ui/html.js';

/** What a form did, for the page that follows it: a message of ours with its values. */
export interface Notice {
  readonly id: Extract<MessageId, `notice.${string}`>;
  readonly values?: Readonly<Record<string, string | number>>;
}

/**
 * Asks the next page to look for a notice, which only then costs it a command. The address says no more: whoever makes
 * links cannot make our pages say anything.
 */
export const NOTICE_QUERY = 'done';

export function hasNotice(query: string): boolean {
  return new URLSearchParams(query).has(NOTICE_QUERY);
}

/** Focused, since a status that stands in a page from its beginning is not announced by itself. */
export function noticeBox(words: Words, { id, values }: Notice): Html {
  return html`<p role="status" tabindex="-1" autofocus>${words.rich(id, values)}</p>`;
}
