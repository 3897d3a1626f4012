import type { Page } from '#pages/page.responder.js';
import { html } from '#ui/html.js';
import type { MessageId } from './i18n/en.js';
import type { Translator } from './i18n/translator.js';
import { inEnglish } from './parts.js';

const TITLES = [400, 403, 404, 409, 413, 429, 503] as const;

const isTitled = (status: number): status is (typeof TITLES)[number] =>
  (TITLES as readonly number[]).includes(status);

export interface Failure {
  readonly status: number;
  readonly text: MessageId | null;
  /** Descriptions of problems, in English. */
  readonly problems: readonly string[];
  readonly reference: string;
}

export function errorPage(translator: Translator, { status, text, problems, reference }: Failure): Page {
  return {
    title: translator.text(isTitled(status) ? `error.${status}` : 'error.title'),
    status,
    content: html`
      ${text !== null && html`<p role="alert">${translator.text(text)}</p>`}
      ${problems.map((problem) => html`<p>${inEnglish(translator, problem)}</p>`)}
      <p><a class="button" href="/">${translator.text('error.home')}</a></p>
      <p class="quiet">${translator.text('error.reference')} <code>${reference}</code></p>
    `,
  };
}
