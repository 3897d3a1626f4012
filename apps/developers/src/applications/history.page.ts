import type { ClientHistoryEntity } from '#clients/owners/client-owner.entity.js';
import type { Member } from '#clients/owners/client-member.store.js';
import { HISTORY_PAGE, type OwnedClient } from '#clients/owners/owned-client.store.js';
import type { ClientJwkSet } from '#oauth/client-assertion/client-keys.js';
import { describeKeys } from '#oauth/oauth-client.js';
import { facts, table } from '#pages/components.js';
import type { Page } from '#pages/page.responder.js';
import { type Fragment, html } from '#ui/html.js';
import type { MessageId } from '../ui/i18n/messages.js';
import type { Translator } from '../ui/i18n/translator.js';
import { backLink, timeOf } from '../ui/parts.js';
import type { Viewer } from '../developer.js';

export interface HistoryView extends Viewer {
  readonly client: OwnedClient;
  readonly events: readonly ClientHistoryEntity[];
  readonly members: readonly Member[];
}

export function historyPage(view: HistoryView): Page {
  const { translator, client, events } = view;
  return {
    title: translator.text('app.history'),
    section: '/',
    content: html`
      ${backLink(client)}
      ${table(
        translator.text('change.difference'),
        translator.texts('history.time', 'history.who', 'history.what'),
        events.map((event) => [
          timeOf(translator, event.at),
          authorOf(view, event),
          html`${actionOf(translator, event)} ${changesOf(translator, event)}`,
        ]),
        translator.text('history.none'),
      )}
      ${events.length === HISTORY_PAGE && html`<p><a href="?before=${events.at(-1)?.id}">${translator.text('history.older')}</a></p>`}
    `,
  };
}

/** Operators have no names here. */
function authorOf(
  { translator, members, developer: { userId } }: HistoryView,
  event: Pick<ClientHistoryEntity, 'userId' | 'operator'>,
): Fragment {
  if (event.userId === userId) return translator.text('history.you');
  if (event.userId !== null) {
    const member = members.find((other) => other.userId === event.userId);
    return member ? html`<bdi>${member.name}</bdi>` : translator.text('history.former');
  }
  return translator.text(event.operator === null ? 'history.service' : 'history.operator');
}

const PARTS: Readonly<Record<string, MessageId>> = {
  client_owners: 'team.owners',
  client_testers: 'team.testers',
  client_invitations: 'team.invitations',
  client_logos: 'field.logo',
  client_secrets: 'secrets.title',
};

const COLUMNS: Readonly<Record<string, MessageId>> = {
  name: 'field.name',
  client_uri: 'field.website',
  policy_uri: 'field.policy',
  contacts: 'field.contact',
  redirect_uris: 'field.redirect_uris',
  scopes: 'field.scopes',
  stage: 'field.state',
  jwks: 'keys.title',
  jwks_uri: 'keys.uri',
};

const ACTIONS: Readonly<Record<string, MessageId>> = {
  created: 'field.created',
  updated: 'change.difference',
  events_enabled: 'events.enabled_note',
  event_redelivered: 'events.redelivered',
};

/** Shows the name of an unknown action or column, which a later version may record. */
function actionOf(translator: Translator, { action }: ClientHistoryEntity): Fragment {
  const known = ACTIONS[action];
  if (known !== undefined) return translator.text(known);
  const [, part = '', step] = /^(\w+)_(added|removed)$/.exec(action) ?? [];
  const id = PARTS[part];
  if (id === undefined) return html`<code>${action}</code>`;
  return translator.text(step === 'added' ? 'history.added' : 'history.removed', {
    part: translator.text(id),
  });
}

/** Shows old and new values of columns; of lists, what was removed and added. */
function changesOf(translator: Translator, { action, changes }: ClientHistoryEntity): Fragment {
  if (action === 'event_redelivered')
    return html`<code>${textOf(changes['type'])} ${textOf(changes['jti'])}</code>`;
  if (action !== 'updated') return false;
  return facts(
    Object.entries(changes).map(([column, change]) => {
      const { old, new: current } = change as { readonly old: unknown; readonly new: unknown };
      const id = COLUMNS[column];
      const label = id === undefined ? column : translator.text(id);
      const [before, after] = [listOf(column, old), listOf(column, current)];
      const removed = before.filter((value) => !after.includes(value));
      const added = after.filter((value) => !before.includes(value));
      const shown = (value: unknown) =>
        html`<bdi>${column === 'stage' ? stageText(translator, value) : textOf(value)}</bdi>`;
      return [
        label,
        html`${removed.map((value) => html`<del>${shown(value)}</del> `)}
        ${added.map((value) => html`<ins>${shown(value)}</ins> `)}`,
      ] as const;
    }),
  );
}

/** The members of a list, and the thumbprints of keys. */
function listOf(column: string, value: unknown): readonly unknown[] {
  if (column === 'jwks' && value !== null)
    return describeKeys({ jwks: value as ClientJwkSet, jwksUri: null }).keys ?? [];
  return Array.isArray(value) ? value : [value];
}

const stageText = (translator: Translator, stage: unknown): string =>
  translator.text(stage === 'testing' ? 'stage.testing' : 'stage.live');

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
