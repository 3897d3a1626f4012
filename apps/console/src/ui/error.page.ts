import { LOGO_LIMITS } from '#clients/operations/logo.js';
import { type Fragment, html, type Html } from '#ui/html.js';
import type { Account } from '../operator.js';
import { button, postForm } from './components.js';
import type { Page } from './page.responder.js';
import { t } from './text.js';

const TITLES: Readonly<Record<number, string>> = {
  400: t('Invalid request'),
  403: t('You do not have permission'),
  404: t('Page not found'),
  405: t('Method not allowed'),
  409: t('The change was not made'),
  413: t('Too large'),
  429: t('Too many requests'),
  503: t('Service unavailable'),
};

/** Used for errors of the framework, which have no description. */
const DESCRIPTIONS: Readonly<Record<number, string>> = {
  413: t('A form may have at most 64 KiB, and a logo {limits}', { limits: LOGO_LIMITS }),
};

interface Failure {
  readonly status: number;
  readonly description: string | undefined;
  readonly reference: string;
  /** Links to pages that remedy the problem. */
  readonly remedies: readonly Fragment[];
  /** Path of the page of the application or user to which the requested path belongs. */
  readonly back: string | undefined;
  /** User without a role; null for operators. */
  readonly account: Account | null;
}

export function errorPage({
  status,
  description = DESCRIPTIONS[status],
  reference,
  remedies,
  back,
  account,
}: Failure): Page {
  return {
    title: TITLES[status] ?? t('Something went wrong'),
    status,
    content: html`
      ${description !== undefined && html`<p role="alert">${description}.</p>`}
      ${status >= 500 && html`<p>${t('Try again in a moment. If the problem persists, check the log of the console.')}</p>`}
      ${remedies.map((remedy) => remedy && html`<p>${remedy}</p>`)}
      ${account ? accountActions(account) : ways(back)}
      <p class="quiet">${t('Error reference')}: <code>${reference}</code></p>
    `,
  };
}

function ways(back: string | undefined): Html {
  return html`<div class="actions">
    ${back !== undefined && html`<a class="button" href="${back}">${t('Go back')}</a>`}
    <a class="button ${back !== undefined && 'even'}" href="/">${t('Go to the overview')}</a>
  </div>`;
}

function accountActions(account: Account): Html {
  return html`
    <p>${t('You are logged in as {name}.', { name: account.name })}</p>
    <div class="actions">
      <a class="button" href="/login?account">${t('Log in with another account')}</a>
      ${postForm(account, '/logout', button(t('Log out'), 'even'), '')}
    </div>
  `;
}
