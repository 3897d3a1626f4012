import type { Page } from '#pages/page.responder.js';
import { html } from '#ui/html.js';
import { isMessage, type Translator } from './i18n/translator.js';

export interface Failure {
  readonly status: number;
  readonly texts: readonly string[];
  readonly reference: string;
}

export function errorPage(translator: Translator, { status, texts, reference }: Failure): Page {
  const title = `error.${status}`;
  return {
    title: translator.text(isMessage(title) ? title : 'error.title'),
    status,
    content: html`
      ${texts.map((text) => html`<p role="alert">${text}</p>`)}
      <p><a class="button" href="/">${translator.text('error.home')}</a></p>
      <p class="quiet">${translator.text('error.reference')} <code>${reference}</code></p>
    `,
  };
}
