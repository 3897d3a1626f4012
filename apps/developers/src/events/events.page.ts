import type { OwnedClient } from '#clients/owners/owned-client.store.js';
import { BY_OPERATOR } from '#events/event-stream.entity.js';
import type { EventStream } from '#events/event-stream.store.js';
import type { OwnedEvents } from '#events/operations/owned-events.service.js';
import { button, codes, postForm, table } from '#pages/components.js';
import type { Page } from '#pages/page.responder.js';
import { html, type Html } from '#ui/html.js';
import { backLink, factsOf, inEnglish, noteOf, pathOf, timeOf } from '../ui/parts.js';
import { receiverSetUp } from '../applications/receiver-set-up.js';
import type { Origins } from '../applications/request-examples.js';
import type { Viewer } from '../developer.js';

export interface EventsView extends Viewer, OwnedEvents {
  readonly client: OwnedClient;
  readonly origins: Origins;
}

export function eventsPage(view: EventsView): Page {
  const { translator, developer, client, streams, events, hasMore } = view;
  const path = pathOf(client.clientId, 'events');
  const isPaused = streams.some(
    ({ status, statusReason }) => status === 'paused' && statusReason !== BY_OPERATOR,
  );
  return {
    title: translator.text('events.title'),
    section: '/',
    content: html`
      ${noteOf(view)} ${backLink(client)}
      <p>${translator.text('events.hint')}</p>
      ${
        streams.length === 0 &&
        html`<section>
          <h2>${translator.text('events.set_up')}</h2>
          ${receiverSetUp(view, client, view.origins)}
        </section>`
      }
      ${streams.map((stream) => streamFacts(view, stream))}
      <p><a href="${pathOf(client.clientId, 'integrate')}">${translator.text('app.integrate')}</a></p>
      ${isPaused && postForm(developer, `${path}/enable`, button(translator.text('events.enable')), '')}
      ${table(
        translator.text('events.deliveries'),
        [
          translator.text('history.time'),
          translator.text('events.event'),
          translator.text('field.state'),
          { title: translator.text('events.attempts'), isNumber: true },
          translator.text('refused.response'),
          translator.text('events.again'),
        ],
        events.map(({ jti, type, createdAt, outcome, attempts, answer }) => [
          timeOf(translator, createdAt),
          html`<code>${type}</code>`,
          translator.text(`events.${outcome ?? 'waiting'}`),
          attempts,
          answer !== null && inEnglish(translator, answer),
          outcome !== null &&
            postForm(
              developer,
              `${path}/${jti}/redeliver`,
              html`<button
                class="plain"
                aria-label="${translator.text('events.again_one', { name: `${type} ${jti}` })}"
              >
                ${translator.text('events.again')}
              </button>`,
              '',
            ),
        ]),
        translator.text('events.none'),
      )}
      ${
        hasMore &&
        html`<p>
          <a class="button even" href="${path}?before=${events.at(-1)?.id}"
            >${translator.text('pages.next')}</a
          >
        </p>`
      }
    `,
  };
}

function streamFacts({ translator }: EventsView, stream: EventStream): Html {
  const { delivery, endpointUrl, eventsRequested, status, statusReason, failingSince, dueAt } = stream;
  return html`<section>
    <h2>${translator.text(delivery === 'logout' ? 'events.logouts' : 'events.stream')}</h2>
    ${factsOf(translator, {
      'events.receiver':
        endpointUrl === null ? translator.text('events.polls') : html`<code>${endpointUrl}</code>`,
      'events.requested': codes(eventsRequested),
      'field.state': html`${translator.text(`events.${status}`)}
      ${statusReason !== null && inEnglish(translator, `(${statusReason})`)}`,
      'events.failing': timeOf(translator, failingSince),
      'events.next': failingSince !== null && status === 'enabled' && timeOf(translator, dueAt),
    })}
  </section>`;
}
