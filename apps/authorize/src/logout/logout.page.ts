import type { Client } from '#clients/client.js';
import type { User } from '#users/user.js';
import type { OAuthError } from '#oauth/oauth-error.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { clientParty, flashBox, type FlashMessage } from '../ui/components.js';
import { csrfField } from '#ui/browser-cookie.js';
import { html } from '#ui/html.js';
import { errorKind } from '../ui/errors/error-kind.js';
import { developerDetails } from '../ui/errors/error.page.js';
import type { Translator } from '../ui/i18n/language.service.js';
import type { UserPage } from '../ui/user-page.responder.js';
import { withQuery } from '../urls.js';

export interface LogoutConfirmation {
  readonly translator: Translator;
  readonly product: string;
  readonly user: User;
  readonly cookie: string;
  readonly client: Client | null;
  readonly query: string;
  /** Why the browser will not return to the application; null for a valid request. */
  readonly refused: OAuthError | null;
  /** Query of the request. */
  readonly sent: string;
}

/** Asks the user before a log-out that an application requests (section 2 of RP-Initiated Logout 1.0). */
export function confirmLogoutPage({
  translator,
  product,
  user,
  cookie,
  client,
  query,
  refused,
  sent,
}: LogoutConfirmation): UserPage {
  const title = translator.text('logout.title', { product });
  const kind = refused && errorKind(refused);
  return {
    translator,
    title,
    content: html`
      <h1>${title}</h1>
      ${client && clientParty(client)}
      ${client && html`<p>${translator.rich('logout.client', { client: client.name })}</p>`}
      <p class="quiet">${translator.rich('consent.account', { name: user.name })}</p>
      <form method="post" action="${withQuery(ENDPOINTS.logoutConfirm, query)}" class="choice">
        ${csrfField(cookie, 'end_session')}
        <a class="button even" href="${ENDPOINTS.account}">${translator.text('logout.stay')}</a>
        <button class="even">${translator.text('account.log_out')}</button>
      </form>
      ${
        refused &&
        kind &&
        html`<p class="quiet">${translator.text(`error.${kind}.what`)}</p>
          ${developerDetails(translator, refused, sent)}`
      }
    `,
  };
}

/** Page after a log-out. The next login starts with a click, because a provider may log the user in without a page. */
export function loggedOutPage(translator: Translator, message: FlashMessage): UserPage {
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
