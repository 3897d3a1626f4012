import { ENDPOINTS } from '#oauth/endpoints.js';
import type { OAuthError } from '#oauth/oauth-error.js';
import type { Words } from '../i18n/words.js';
import type { Page } from '../document.js';
import { html } from '../html.js';
import { developerDetails, type Hint, hintList } from './developer-details.js';
import { ERROR_KINDS, type ErrorKind } from './error-kind.js';
import { mismatchHelp } from './mismatch-help.js';

export interface ErrorReport {
  readonly words: Words;
  readonly error: OAuthError;
  readonly kind: ErrorKind;
  /** Names for the message of the kind. */
  readonly values?: Readonly<Record<string, string>>;
  /** Leads the operator to the log; null where nothing was logged. */
  readonly reference: string | null;
  /** Of the request. */
  readonly query: string;
  /** The page to open next; null when that could not help. */
  readonly next: string | null;
  readonly hints?: readonly Hint[];
}

/** The page of an error: what happened, who can fix it, what to do, and the reference to pass on. */
export function errorPage(report: ErrorReport): Page {
  const { words, error, kind, values, reference, query, next, hints = [] } = report;
  const { party, advice } = ERROR_KINDS[kind];
  const title = words.text(`error.${kind}.title`);
  const help = kind === 'redirect_mismatch' ? mismatchHelp(words) : hintList(words, hints);
  return {
    words,
    title: words.text('error.title', { title }),
    content: html`
      <h1>${title}</h1>
      <p role="alert">${words.rich(`error.${kind}.what`, values)}</p>
      <p>${words.text(`error.party.${party}`)} ${words.text(`error.advice.${advice}`)}</p>
      ${next !== null && html`<p><a class="button" href="${next}">${words.text(buttonOf(kind))}</a></p>`}
      ${kind === 'not_found' && html`<p><a class="alone" href="${ENDPOINTS.account}">${words.text('account.title')}</a></p>`}
      ${
        reference !== null &&
        html`<p class="quiet">${words.text('error.reference')} <code>${reference}</code></p>`
      }
      ${developerDetails(words, error, query, help)}
    `,
  };
}

function buttonOf(kind: ErrorKind): 'error.button.go_on' | 'error.button.start_again' | 'error.button.again' {
  const { advice } = ERROR_KINDS[kind];
  if (advice === 'go_on') return 'error.button.go_on';
  return advice === 'start_again' || advice === 'allow_cookies'
    ? 'error.button.start_again'
    : 'error.button.again';
}
