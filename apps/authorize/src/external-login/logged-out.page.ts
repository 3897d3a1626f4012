import { ENDPOINTS } from '#oauth/endpoints.js';
import { flashBox, type FlashMessage } from '../ui/components.js';
import { html } from '../ui/html.js';
import type { Translator } from '../ui/i18n/translator.js';
import type { Page } from '../ui/page.responder.js';

/** Landing page after a log-out. The next login starts with a click, because the provider may log the user in without a page. */
export function loggedOutPage(translator: Translator, message: FlashMessage): Page {
  return {
    translator,
    title: translator.text('account.log_out'),
    content: html`
      <h1>${translator.text('account.log_out')}</h1>
      ${flashBox(translator, message)}
      <p><a class="button wide" href="${ENDPOINTS.login}">${translator.text('login.submit')}</a></p>
    `,
  };
}
