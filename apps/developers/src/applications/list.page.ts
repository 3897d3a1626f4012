import type { RequestView } from '#clients/operations/requests/request.description.js';
import type { OwnedSummary } from '#clients/owners/owned-client.store.js';
import { table } from '#pages/components.js';
import type { Page } from '#pages/page.responder.js';
import { html } from '#ui/html.js';
import type { Translator } from '../ui/i18n/translator.js';
import { noteOf, pathOf, timeOf } from '../ui/parts.js';
import { requestName, stageTag, statusTag } from '../ui/tags.js';

export function listPage(
  translator: Translator,
  applications: readonly OwnedSummary[],
  requests: readonly RequestView[],
  note: string | null,
): Page {
  return {
    title: translator.text('list.title'),
    section: '/',
    content: html`
      ${noteOf(translator, note)}
      <p>${translator.text('list.intro')} <a href="/requests/new">${translator.text('request.new')}</a></p>
      ${table(
        translator.text('list.applications'),
        [translator.text('field.name'), translator.text('field.state'), translator.text('field.created')],
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
        [translator.text('field.name'), translator.text('request.kind'), translator.text('field.state')],
        requests.map((request) => [
          html`<a href="/requests/${request.id}"><bdi>${requestName(translator, request)}</bdi></a>`,
          translator.text(`request.${request.kind}`),
          statusTag(translator, request.status),
        ]),
        translator.text('list.no_requests'),
      )}
    `,
  };
}
