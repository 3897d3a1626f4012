import { ENDPOINTS } from '#oauth/endpoints.js';
import type { ConnectedApp } from '#database/grant/connected-app.js';
import type { User } from '#database/user/user.js';
import { scopeWords } from '../ui/i18n/scope-words.js';
import type { Words } from '../ui/i18n/words.js';
import { type Notice, noticeBox } from '../session/notice.js';
import type { Page } from '../ui/document.js';
import { clientFace } from '../ui/face.js';
import { html, type Html } from '../ui/html.js';
import type { AppsPage } from './apps-page.js';
import { appsAddress, revokeAddress } from './paths.js';

export interface ConnectedAppsView {
  readonly words: Words;
  readonly user: User;
  readonly list: AppsPage;
  /** What a form has just done; null when none did. */
  readonly notice: Notice | null;
  /** Name of our product. */
  readonly product: string;
}

/** What the user allowed, to whom, since when, and when it was last used. */
export function connectedAppsPage(view: ConnectedAppsView): Page {
  const { words, list, notice } = view;
  return {
    words,
    title: words.text('apps.title'),
    content: html`
      <h1>${words.text('apps.title')}</h1>
      ${notice && noticeBox(words, notice)} ${list.apps.length === 0 ? nothing(view) : entries(view)}
      <p><a class="alone" href="${ENDPOINTS.account}">${words.text('apps.back')}</a></p>
    `,
  };
}

function nothing({ words, notice }: ConnectedAppsView): Html {
  // The notice has just said so.
  const said = notice?.id === 'notice.all_revoked';
  return html`
    ${!said && html`<p>${words.text('apps.empty')}</p>`}
    <p class="quiet">${words.text('apps.empty_hint')}</p>
  `;
}

function entries(view: ConnectedAppsView): Html {
  const { words, list } = view;
  return html`
    <p>${words.text('apps.intro')}</p>
    <ul class="plain rows">
      ${list.apps.map((app) => html`<li>${entry(app, view)}</li>`)}
    </ul>
    ${list.pages > 1 && turning(words, list)}
    <p><a class="button danger" href="${ENDPOINTS.revokeAllApps}">${words.text('apps.revoke_all')}</a></p>
  `;
}

function turning(words: Words, { page, pages }: AppsPage): Html {
  return html`
    <nav aria-label="${words.text('apps.pages')}">
      <p>
        ${words.text('apps.page', { page, pages })}
        ${page > 1 && html`<a href="${appsAddress(page - 1)}">${words.text('apps.previous')}</a>`}
        ${page < pages && html`<a href="${appsAddress(page + 1)}">${words.text('apps.next')}</a>`}
      </p>
    </nav>
  `;
}

function entry(app: ConnectedApp, { words, user, product }: ConnectedAppsView): Html {
  const { clientId, name, firstParty, scopes } = app;
  const label = words.text('apps.revoke_one', { client: name });
  return html`
    <div class="party">
      ${clientFace(app)}
      <div>
        <h2><bdi>${name}</bdi></h2>
        ${firstParty && html`<p class="quiet">${words.rich('apps.made_by_us', { product })}</p>`}
      </div>
    </div>
    <ul>
      ${scopes.map((scope) => html`<li>${scopeWords(words, scope)}</li>`)}
    </ul>
    <p class="quiet">
      ${words.rich(firstParty ? 'apps.connected_since' : 'apps.since', { date: words.date(app.since, user.timeZone) })}
      ${lastUse(app, words)}
    </p>
    <a class="button danger" href="${revokeAddress(clientId)}" aria-label="${label}"
      >${words.text('apps.revoke')}</a
    >
  `;
}

function lastUse({ lastUsedOn }: ConnectedApp, words: Words): Html {
  if (lastUsedOn === null) return words.rich('apps.not_used');
  // A day of UTC, which is that day in any zone: it must not become the one before.
  return words.rich('apps.last_used', { date: words.date(new Date(`${lastUsedOn}T00:00:00Z`), 'UTC') });
}
