import type { OwnedClient } from '#clients/owners/owned-client.store.js';
import { BY_OPERATOR } from '#events/event-stream.entity.js';
import type { EventStream } from '#events/event-stream.store.js';
import type { OwnedEvents } from '#events/operations/owned-events.service.js';
import { button, codes, postForm, table } from '#pages/components.js';
import type { Page } from '#pages/page.responder.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { html, type Html } from '#ui/html.js';
import { backLink, factsOf, inEnglish, noteOf, pathOf, timeOf } from '../ui/parts.js';
import { authentication, command, type Origins } from '../applications/request-examples.js';
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
      ${streams.length === 0 && setUp(view)} ${streams.map((stream) => streamFacts(view, stream))}
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

/** Explains events to an application without a receiver (docs/events.md, docs/openid.md#log-out). */
function setUp({ translator, client, origins: { BASE_URL } }: EventsView): Html {
  const { clientId, type, redirectUris } = client;
  const receiver = (path: string) => `https://${hostOf(redirectUris)}/${path}`;
  const update = `operator client update ${clientId}`;
  return html`<section>
    <h2>${translator.text('events.set_up')}</h2>
    <p>${translator.text('events.about')}</p>
    ${
      type === 'confidential' &&
      html`<p>
          ${translator.text('events.by_application')}
          <code>${BASE_URL}${ENDPOINTS.ssfConfiguration}</code>
        </p>
        ${command(
          `curl ${BASE_URL}${ENDPOINTS.token} ${authentication(client)}`,
          `-d grant_type=client_credentials -d 'scope=ssf.read ssf.manage'`,
        )}
        ${command(
          `curl ${BASE_URL}${ENDPOINTS.eventStream} -H "Authorization: Bearer $ACCESS_TOKEN"`,
          `--json '{"delivery": {"method": "urn:ietf:rfc:8935", "endpoint_url": "${receiver('events')}"}}'`,
        )}`
    }
    <p>${translator.text('events.by_operator')}</p>
    ${command(`${update} --events-url ${receiver('events')}`)}
    ${command(`${update} --backchannel-logout-uri ${receiver('logout')}`)}
    <p>
      <a href="${pathOf(clientId, 'integrate')}">${translator.text('app.integrate')}</a> ·
      <a href="${SHARED_SIGNALS}" rel="noreferrer">Shared Signals Framework 1.0</a>
    </p>
  </section>`;
}

const SHARED_SIGNALS = 'https://openid.net/specs/openid-sharedsignals-framework-1_0.html';

/** Host of the first redirect URI with https, as an example. */
function hostOf(redirectUris: readonly string[]): string {
  const [uri] = redirectUris.filter((each) => each.startsWith('https://'));
  return uri === undefined ? 'app.example.com' : new URL(uri).host;
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
