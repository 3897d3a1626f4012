import type { TestedClient } from '#clients/owners/client-member.store.js';
import type { OwnedSummary } from '#clients/owners/owned-client.store.js';
import type { ListedRequest } from '#clients/requests/client-request.store.js';
import { table } from '#pages/components.js';
import type { Page } from '#pages/page.responder.js';
import { html, type Html } from '#ui/html.js';
import type { Translator } from '../ui/i18n/translator.js';
import type { Viewer } from '../developer.js';
import { noteOf, pathOf, requestName, stageTag, statusTag, timeOf } from '../ui/parts.js';

export interface ListView extends Viewer {
  readonly applications: readonly OwnedSummary[];
  readonly requests: readonly ListedRequest[];
  readonly tested: readonly TestedClient[];
}

export function listPage(view: ListView): Page {
  const { translator, applications, requests, tested } = view;
  return {
    title: translator.text('list.title'),
    section: '/',
    content: html`
      ${noteOf(view)}
      <p>${translator.text('list.intro')} <a href="/requests/new">${translator.text('request.new')}</a></p>
      ${table(
        translator.text('list.applications'),
        translator.texts('field.name', 'field.state', 'field.created'),
        applications.map((application) => [
          html`<a href="${pathOf(application.clientId)}"><bdi>${application.name}</bdi></a>`,
          html`${stageTag(translator, application)}
          ${application.request && statusTag(translator, application.request)}`,
          timeOf(translator, application.createdAt),
        ]),
        translator.text('list.none'),
      )}
      ${table(
        translator.text('list.requests'),
        translator.texts('field.name', 'request.kind', 'field.state'),
        requests.map(({ id, name, kind, status }) => [
          html`<a href="/requests/${id}"><bdi>${requestName(translator, name)}</bdi></a>`,
          translator.text(`request.${kind}`),
          statusTag(translator, status),
        ]),
        translator.text('list.no_requests'),
      )}
      ${tested.length > 0 && testedOf(translator, tested)}
    `,
  };
}

function testedOf(translator: Translator, tested: readonly TestedClient[]): Html {
  return html`${table(
      translator.text('tests.title'),
      translator.texts('field.name', 'team.since', 'team.leave'),
      tested.map(({ clientId, name, since }) => [
        html`<bdi>${name}</bdi>`,
        timeOf(translator, since),
        html`<a href="/tests/${encodeURIComponent(clientId)}/leave">${translator.text('team.leave')}</a>`,
      ]),
    )}
    <p>${translator.text('tests.text')}</p>`;
}
