import { ENDPOINTS } from '#oauth/endpoints.js';
import type { ConnectedApp } from '#database/grant/connected-app.js';
import type { Words } from '../ui/i18n/words.js';
import type { Page } from '../ui/document.js';
import { clientFace } from '../ui/face.js';
import { html, type Html } from '../ui/html.js';
import { hiddenToken } from '../session/hidden-token.js';
import { revokeAddress } from './paths.js';

/** Asks whether one application is to lose its access. */
export function revokePage(words: Words, app: ConnectedApp, cookie: string): Page {
  const { clientId, name } = app;
  return {
    words,
    title: words.text('revoke.title', { client: name }),
    content: html`
      <h1>${words.rich('revoke.title', { client: name })}</h1>
      <div class="party">
        ${clientFace(app)}
        <p><bdi>${name}</bdi></p>
      </div>
      <p>${words.rich('revoke.what', { client: name })}</p>
      <form method="post" action="${revokeAddress(clientId)}" class="choice">
        ${hiddenToken(cookie, 'revoke')}
        <input type="hidden" name="client_id" value="${clientId}" />
        ${choice(words, words.text('apps.revoke'))}
      </form>
    `,
  };
}

/** Asks whether every application is to lose its access. */
export function revokeAllPage(words: Words, apps: readonly ConnectedApp[], cookie: string): Page {
  const count = apps.length;
  const title = words.text('revoke_all.title', { count });
  return {
    words,
    title,
    content: html`
      <h1>${title}</h1>
      <p>${words.rich('revoke_all.what', { count })}</p>
      <ul>
        ${apps.map(({ name }) => html`<li><bdi>${name}</bdi></li>`)}
      </ul>
      <form method="post" action="${ENDPOINTS.revokeAllApps}" class="choice">
        ${hiddenToken(cookie, 'revoke_all')}
        ${choice(words, words.text(count === 1 ? 'apps.revoke' : 'apps.revoke_all'))}
      </form>
    `,
  };
}

function choice(words: Words, revoke: string): Html {
  return html`
    <a class="button even" href="${ENDPOINTS.connectedApps}">${words.text('revoke.cancel')}</a>
    <button class="danger even">${revoke}</button>
  `;
}
