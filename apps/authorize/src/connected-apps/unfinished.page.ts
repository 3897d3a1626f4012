import { ENDPOINTS } from '#oauth/endpoints.js';
import type { Words } from '../ui/i18n/words.js';
import type { Page } from '../ui/document.js';
import { html } from '../ui/html.js';
import { hiddenToken } from '../session/hidden-token.js';
import { revokeAddress } from './paths.js';

export interface Unfinished {
  readonly words: Words;
  readonly cookie: string;
  /** Whose access it was about; null for everybody's. */
  readonly clientId: string | null;
  /** Leads the operator to the log. */
  readonly reference: string;
}

/** Says that a revocation is recorded and has not arrived everywhere, and repeats it. */
export function unfinishedPage({ words, cookie, clientId, reference }: Unfinished): Page {
  const all = clientId === null;
  return {
    words,
    title: words.text('revoke.unfinished_title'),
    content: html`
      <h1>${words.text('revoke.unfinished')}</h1>
      <p role="alert">${words.text('revoke.unfinished_what')}</p>
      <p>${words.text('revoke.unfinished_advice')}</p>
      <form method="post" action="${all ? ENDPOINTS.revokeAllApps : revokeAddress(clientId)}">
        ${hiddenToken(cookie, all ? 'revoke_all' : 'revoke')}
        ${!all && html`<input type="hidden" name="client_id" value="${clientId}" />`}
        <button class="wide" autofocus>${words.text('revoke.repeat')}</button>
      </form>
      <p class="quiet">${words.text('error.reference')} <code>${reference}</code></p>
    `,
  };
}
