import { MAX_COUNTED_GRANTS, type OwnedClient } from '#clients/owners/owned-client.store.js';
import type { ListedRequest } from '#clients/requests/client-request.store.js';
import { hasKeys } from '#oauth/oauth-client.js';
import { codes, table } from '#pages/components.js';
import type { Page } from '#pages/page.responder.js';
import { html, type Html } from '#ui/html.js';
import { copyable, factsOf, noteOf, pathOf, stageTag, statusTag, timeOf } from '../ui/parts.js';
import type { Viewer } from '../developer.js';
import { keySection } from './keys.page.js';

export interface ApplicationView extends Viewer {
  readonly client: OwnedClient;
  /** Users with live grants. */
  readonly users: number;
  readonly requests: readonly ListedRequest[];
}

export function applicationPage(view: ApplicationView): Page {
  const { translator, client, users, requests } = view;
  const question = requests.find(({ status }) => status === 'question');
  const link = (
    page: 'activity' | 'events' | 'try' | 'change' | 'team' | 'integrate' | 'history',
    text: string,
  ) => html`<a class="button even" href="${pathOf(client.clientId, page)}">${text}</a>`;
  const address = (url: string | null) => url && html`<a href="${url}" rel="noreferrer">${url}</a>`;
  return {
    title: client.name,
    heading: html`<bdi>${client.name}</bdi>`,
    section: '/',
    content: html`
      ${noteOf(view)}
      ${question && html`<p role="status"><a href="/requests/${question.id}">${translator.text('app.question')}</a></p>`}
      ${client.stage === 'testing' && html`<p role="status">${translator.text('stage.testing_hint')}</p>`}
      ${factsOf(translator, {
        'field.state': stageTag(translator, client),
        'field.client_id': copyable(view, 'client-id', client.clientId),
        'keys.method': html`<code>${methodOf(client)}</code>`,
        'app.users':
          users >= MAX_COUNTED_GRANTS
            ? translator.text('app.users_most', { count: MAX_COUNTED_GRANTS })
            : translator.text('app.users_count', { count: users }),
        'field.created': timeOf(translator, client.createdAt),
        'field.website': address(client.clientUri),
        'field.policy': address(client.policyUri),
        'field.contact': client.contacts.length > 0 && codes(client.contacts),
        'field.redirect_uris': codes(client.redirectUris),
        'field.scopes': html`<ul class="plain">
          ${translator.scopes(client.scopes).map(({ text }) => html`<li>${text}</li>`)}
        </ul>`,
      })}
      <div class="actions">
        ${link('integrate', translator.text('app.integrate'))} ${link('try', translator.text('try.title'))}
        ${link('activity', translator.text('activity.title'))}
        ${link('events', translator.text('events.title'))} ${link('change', translator.text('app.propose'))}
        ${link('team', translator.text('app.team'))} ${link('history', translator.text('app.history'))}
      </div>
      ${client.type === 'confidential' && (hasKeys(client) ? keySection(translator, client) : secretsOf(view))}
      ${requestsOf(view)}
      <p>
        <a class="button danger" href="${pathOf(client.clientId, 'delete')}"
          >${translator.text('app.delete')}</a
        >
      </p>
    `,
  };
}

function methodOf(client: OwnedClient): string {
  if (client.type === 'public') return 'none';
  return hasKeys(client) ? 'private_key_jwt' : 'client_secret';
}

function secretsOf({ translator, client }: ApplicationView): Html {
  return html`<section>
    ${table(
      translator.text('secrets.title'),
      translator.texts(
        'secrets.secret',
        'field.created',
        'secrets.last_used',
        'secrets.expires',
        'secrets.revoke',
      ),
      client.secrets.map(({ id, createdAt, lastUsedAt, expiresAt }) => [
        html`<code>${id.slice(0, 8)}</code>`,
        timeOf(translator, createdAt),
        timeOf(translator, lastUsedAt) ?? translator.text('secrets.never'),
        timeOf(translator, expiresAt) ?? translator.text('secrets.no_expiry'),
        html`<a href="${pathOf(client.clientId, 'secrets', id, 'revoke')}"
          >${translator.text('secrets.revoke')}</a
        >`,
      ]),
      translator.text('secrets.none'),
    )}
    <p class="quiet">${translator.text('secrets.used_hint')}</p>
    <div class="actions">
      <a class="button even" href="${pathOf(client.clientId, 'secrets', 'new')}"
        >${translator.text('secrets.create')}</a
      >
      <a class="button even" href="${pathOf(client.clientId, 'keys', 'change')}"
        >${translator.text('keys.instead')}</a
      >
    </div>
  </section>`;
}

function requestsOf({ translator, requests }: ApplicationView): Html | false {
  return (
    requests.length > 0 &&
    table(
      translator.text('app.requests'),
      translator.texts('request.kind', 'field.state', 'field.created'),
      requests.map(({ id, kind, status, createdAt }) => [
        html`<a href="/requests/${id}">${translator.text(`request.${kind}`)}</a>`,
        statusTag(translator, status),
        timeOf(translator, createdAt),
      ]),
    )
  );
}
