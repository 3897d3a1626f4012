import type { ConnectedApp } from '#grants/records/connected-app.store.js';
import type { User } from '#users/user.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { appsUrl, revokeUrl } from '../urls.js';
import { clientAvatar, flashBox, type FlashMessage } from '../ui/components.js';
import { html, type Html } from '#ui/html.js';
import type { Translator } from '../ui/i18n/language.service.js';
import type { UserPage } from '../ui/user-page.responder.js';

/** Keeps a page under 30 KB in every language. */
const APPS_PER_PAGE = 15;

export interface AppsPage {
  readonly apps: readonly ConnectedApp[];
  /** Number of the page; the first page is 1. */
  readonly page: number;
  readonly pages: number;
}

/** @param requested page number from the query, clamped to the existing pages */
export function appsPage(all: readonly ConnectedApp[], requested: string | null): AppsPage {
  const pages = Math.max(1, Math.ceil(all.length / APPS_PER_PAGE));
  const page = Math.min(pages, Math.max(1, Math.floor(Number(requested)) || 1));
  return { apps: all.slice((page - 1) * APPS_PER_PAGE, page * APPS_PER_PAGE), page, pages };
}

export interface ConnectedAppsView {
  readonly translator: Translator;
  readonly user: User;
  readonly list: AppsPage;
  readonly flash: FlashMessage | null;
  readonly product: string;
}

export function connectedAppsPage(view: ConnectedAppsView): UserPage {
  const { translator, list, flash } = view;
  return {
    translator,
    title: translator.text('apps.title'),
    content: html`
      <h1>${translator.text('apps.title')}</h1>
      ${flash && flashBox(translator, flash)} ${list.apps.length === 0 ? emptyList(view) : entries(view)}
      <p><a class="alone" href="${ENDPOINTS.account}">${translator.text('apps.back')}</a></p>
    `,
  };
}

function emptyList({ translator, flash }: ConnectedAppsView): Html {
  const announced = flash?.id === 'flash.all_revoked';
  return html`
    ${!announced && html`<p>${translator.text('apps.empty')}</p>`}
    <p class="quiet">${translator.text('apps.empty_hint')}</p>
  `;
}

function entries(view: ConnectedAppsView): Html {
  const { translator, list } = view;
  return html`
    <p>${translator.text('apps.intro')}</p>
    <ul class="plain rows">
      ${list.apps.map((app) => html`<li>${entry(app, view)}</li>`)}
    </ul>
    ${list.pages > 1 && pagination(translator, list)}
    <p>
      <a class="button danger" href="${ENDPOINTS.revokeAllApps}">${translator.text('apps.revoke_all')}</a>
    </p>
  `;
}

function pagination(translator: Translator, { page, pages }: AppsPage): Html {
  return html`
    <nav aria-label="${translator.text('apps.pages')}">
      <p class="links">
        ${translator.text('apps.page', { page, pages })}
        ${page > 1 && html`<a class="alone" href="${appsUrl(page - 1)}">${translator.text('apps.previous')}</a>`}
        ${page < pages && html`<a class="alone" href="${appsUrl(page + 1)}">${translator.text('apps.next')}</a>`}
      </p>
    </nav>
  `;
}

function entry(app: ConnectedApp, { translator, user, product }: ConnectedAppsView): Html {
  const { clientId, name, firstParty, isDisabled, scopes } = app;
  const label = translator.text('apps.revoke_one', { client: name });
  return html`
    <div class="party">
      ${clientAvatar(app)}
      <div>
        <h2><bdi>${name}</bdi></h2>
        ${firstParty && html`<p class="quiet">${translator.rich('consent.first_party', { product })}</p>`}
      </div>
    </div>
    ${isDisabled && html`<p>${translator.text('apps.disabled')}</p>`}
    <ul>
      ${translator.scopes(scopes).map(({ text }) => html`<li>${text}</li>`)}
    </ul>
    <p class="quiet">
      ${translator.rich(firstParty ? 'apps.connected_since' : 'apps.since', { date: translator.date(app.since, user.timeZone) })}<br />
      ${lastUse(app, translator)}
    </p>
    <a class="button danger" href="${revokeUrl(clientId)}" aria-label="${label}"
      >${translator.text('apps.revoke')}</a
    >
  `;
}

function lastUse({ lastUsedOn }: ConnectedApp, translator: Translator): Html {
  if (lastUsedOn === null) return translator.rich('apps.not_used');
  // The date is in UTC; another time zone could display the previous day.
  return translator.rich('apps.last_used', {
    date: translator.date(new Date(`${lastUsedOn}T00:00:00Z`), 'UTC'),
  });
}
