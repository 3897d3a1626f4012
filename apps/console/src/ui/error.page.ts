import { html } from '#ui/html.js';
import type { Page } from './page.responder.js';
import { t } from './text.js';

const TITLES: Readonly<Record<number, string>> = {
  400: t('Invalid request'),
  403: t('You do not have permission'),
  404: t('Page not found'),
  405: t('Method not allowed'),
  409: t('The change was not made'),
  422: t('This form was already submitted'),
  429: t('Too many requests'),
  503: t('Service unavailable'),
};

interface Failure {
  readonly status: number;
  readonly description: string | undefined;
  readonly reference: string;
  /** Path of the page of the application or user to which the requested path belongs. */
  readonly back: string | undefined;
}

export function errorPage({ status, description, reference, back }: Failure): Page {
  return {
    title: TITLES[status] ?? t('Something went wrong'),
    status,
    content: html`
      ${description !== undefined && html`<p role="alert">${description}.</p>`}
      ${status >= 500 && html`<p>${t('Try again in a moment. If the problem persists, check the log of the console.')}</p>`}
      <div class="actions">
        ${back !== undefined && html`<a class="button" href="${back}">${t('Go back')}</a>`}
        <a class="button ${back !== undefined && 'even'}" href="/">${t('Go to applications')}</a>
      </div>
      <p class="quiet">${t('Error reference')}: <code>${reference}</code></p>
    `,
  };
}
