import type { ConnectedApp } from '#grants/records/connected-app.store.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { revokeUrl } from '../urls.js';
import { clientParty } from '../ui/components.js';
import { csrfField } from '#ui/browser-cookie.js';
import { html, type Html } from '#ui/html.js';
import type { Translator } from '../ui/i18n/language.service.js';
import type { UserPage } from '../ui/user-page.responder.js';

export function revokePage(translator: Translator, app: ConnectedApp, cookie: string): UserPage {
  const { clientId, name } = app;
  return {
    translator,
    title: translator.text('revoke.title', { client: name }),
    content: html`
      <h1>${translator.rich('revoke.title', { client: name })}</h1>
      ${clientParty(app)}
      <p>${translator.rich('revoke.what', { client: name })}</p>
      <form method="post" action="${revokeUrl(clientId)}" class="choice">
        ${csrfField(cookie, 'revoke')}
        <input type="hidden" name="client_id" value="${clientId}" />
        ${choice(translator, translator.text('apps.revoke'))}
      </form>
    `,
  };
}

export function revokeAllPage(
  translator: Translator,
  apps: readonly ConnectedApp[],
  cookie: string,
): UserPage {
  const count = apps.length;
  const title = translator.text('revoke_all.title', { count });
  return {
    translator,
    title,
    content: html`
      <h1>${title}</h1>
      <p>${translator.rich('revoke_all.what', { count })}</p>
      <ul>
        ${apps.map(({ name }) => html`<li><bdi>${name}</bdi></li>`)}
      </ul>
      <form method="post" action="${ENDPOINTS.revokeAllApps}" class="choice">
        ${csrfField(cookie, 'revoke_all')}
        ${choice(translator, translator.text(count === 1 ? 'apps.revoke' : 'apps.revoke_all'))}
      </form>
    `,
  };
}

function choice(translator: Translator, revoke: string): Html {
  return html`
    <a class="button even" href="${ENDPOINTS.connectedApps}">${translator.text('consent.cancel')}</a>
    <button class="danger even">${revoke}</button>
  `;
}

export interface IncompleteRevocation {
  readonly translator: Translator;
  readonly cookie: string;
  readonly clientId: string | null;
  readonly reference: string;
}

/** Page for a recorded revocation that is not yet applied everywhere. The form retries the revocation. */
export function incompletePage({ translator, cookie, clientId, reference }: IncompleteRevocation): UserPage {
  const all = clientId === null;
  return {
    translator,
    title: translator.text('revoke.incomplete_title'),
    content: html`
      <h1>${translator.text('revoke.incomplete')}</h1>
      <p role="alert">${translator.text('revoke.incomplete_what')}</p>
      <p>${translator.text('revoke.incomplete_advice')}</p>
      <form method="post" action="${all ? ENDPOINTS.revokeAllApps : revokeUrl(clientId)}">
        ${csrfField(cookie, all ? 'revoke_all' : 'revoke')}
        ${!all && html`<input type="hidden" name="client_id" value="${clientId}" />`}
        <button class="wide" autofocus>${translator.text('error.button.again')}</button>
      </form>
      <p class="quiet">${translator.text('error.reference')} <code>${reference}</code></p>
    `,
  };
}
