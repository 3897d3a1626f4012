import { html } from '#ui/html.js';
import type { Page } from './page.responder.js';
import { t } from './text.js';

const TITLES: Readonly<Record<number, string>> = {
  400: t('This request cannot be understood'),
  403: t('You may not do this'),
  404: t('There is nothing at this address'),
  405: t('This address does not accept this request'),
  409: t('The change was not made'),
  422: t('This form was sent before'),
  429: t('Too many requests'),
  503: t('A service does not answer'),
};

interface Failure {
  readonly status: number;
  readonly description: string | undefined;
  readonly reference: string;
}

export function errorPage({ status, description, reference }: Failure): Page {
  const title = TITLES[status] ?? t('Something went wrong');
  return {
    title,
    status,
    content: html`
      <h1>${title}</h1>
      ${description !== undefined && html`<p role="alert">${description}.</p>`}
      ${status >= 500 && html`<p>${t('Try again in a moment. If it keeps happening, look at the log of the console.')}</p>`}
      <p><a class="button" href="/">${t('To the applications')}</a></p>
      <p class="quiet">${t('Reference for the log')}: <code>${reference}</code></p>
    `,
  };
}
