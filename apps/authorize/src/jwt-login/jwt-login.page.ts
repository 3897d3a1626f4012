import { ENDPOINTS } from '#oauth/endpoints.js';
import { html } from '#ui/html.js';
import type { Translator } from '../ui/i18n/translator.js';
import type { Page } from '../ui/page.responder.js';

export const RESUBMITTED_FIELD = 'repeated';

/** Resubmits a form from another site, so that the browser adds the SameSite=Lax cookies of this site. */
export function jwtLoginPage(translator: Translator, assertion: string): Page {
  return {
    translator,
    title: translator.text('login.title'),
    script: true,
    content: html`
      <h1>${translator.text('login.title')}</h1>
      <p>${translator.text('login.signed_jwt')}</p>
      <form method="post" action="${ENDPOINTS.loginCallback}" data-submits>
        <input type="hidden" name="assertion" value="${assertion}" />
        <input type="hidden" name="${RESUBMITTED_FIELD}" value="yes" />
        <button class="wide">${translator.text('error.button.continue')}</button>
      </form>
    `,
  };
}
