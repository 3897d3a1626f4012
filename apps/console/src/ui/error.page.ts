import { LOGO_LIMITS } from '#clients/registration/logo.js';
import { type Fragment, html, type Html } from '#ui/html.js';
import type { Account } from '#pages/account.js';
import { button, postForm } from '#pages/components.js';
import type { Page } from '#pages/page.responder.js';
import { phrase } from '#pages/format.js';

const TITLES: Readonly<Record<number, string>> = {
  400: 'Invalid request',
  403: 'You do not have permission',
  404: 'Page not found',
  405: 'Method not allowed',
  409: 'The change was not made',
  413: 'Too large',
  429: 'Too many requests',
  503: 'Service unavailable',
};

/** Used for errors of the framework, which have no description. */
const DESCRIPTIONS: Readonly<Record<number, string>> = {
  413: phrase('A form may have at most 64 KiB, and a logo {limits}', { limits: LOGO_LIMITS }),
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
    title: TITLES[status] ?? 'Something went wrong',
    status,
    content: html`
      ${description !== undefined && html`<p role="alert">${description}.</p>`}
      ${status >= 500 && html`<p>Try again in a moment. If the problem persists, check the log of the console.</p>`}
      ${remedies.map((remedy) => remedy && html`<p>${remedy}</p>`)}
      ${account ? accountActions(account) : ways(back)}
      <p class="quiet">Error reference: <code>${reference}</code></p>
    `,
  };
}

function ways(back: string | undefined): Html {
  return html`<div class="actions">
    ${back !== undefined && html`<a class="button" href="${back}">Go back</a>`}
    <a class="button ${back !== undefined && 'even'}" href="/">Go to the overview</a>
  </div>`;
}

function accountActions(account: Account): Html {
  return html`
    <p>${phrase('You are logged in as {name}.', { name: account.name })}</p>
    <div class="actions">
      <a class="button" href="/login?account">Log in with another account</a>
      ${postForm(account, '/logout', button('Log out', 'even'), '')}
    </div>
  `;
}
