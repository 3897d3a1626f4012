import type { ClientView } from '#clients/operations/client.description.js';
import { REQUESTABLE_EVENTS } from '#events/event-type.js';
import type { EventView } from '#events/operations/event.service.js';
import type { StreamView } from '#events/operations/event-stream.service.js';
import type { ListPage } from '#platform/postgres/list-page.js';
import { type Fragment, html, type Html } from '#ui/html.js';
import type { Form } from '#pages/form.js';
import type { Operator } from '../operator.js';
import { mayActAs } from '../role.js';
import {
  button,
  choices,
  codes,
  facts,
  type Notices,
  notices,
  otherProblems,
  pageLinks,
  postForm,
  table,
  textField,
  timeCell,
} from '#pages/components.js';
import type { Page } from '#pages/page.responder.js';
import { moment, phrase } from '#pages/format.js';
import { labelOf, NO_PROBLEMS, type Problems } from './application.form.js';
import { pathOf } from './application.page.js';

export interface EventsView {
  readonly operator: Operator;
  readonly client: ClientView;
  readonly stream: StreamView | null;
  /** Deliveries of logout tokens; null without a back-channel logout URI. */
  readonly logouts: StreamView | null;
  readonly events: ListPage<EventView>;
  /** The rejected form. */
  readonly form?: Form;
  readonly problems?: Problems;
  readonly changed?: Notices;
}

export function applicationEventsPage(view: EventsView): Page {
  const { operator, client, stream, logouts, events, problems = NO_PROBLEMS, changed = {} } = view;
  const { client_id: id, name } = client;
  const form = mayActAs(operator.role, 'admin') && receiverForm(view, problems);
  return {
    title: phrase('Events of {name}', { name }),
    status: problems.size > 0 ? 400 : 200,
    section: '/applications',
    content: html`
      ${notices(changed)} ${form && otherProblems(problems, form)}
      ${stream ? streamFacts(stream) : html`<p>The application gets no events.</p>`}
      ${logouts && logoutFacts(logouts)} ${statusActions(operator, id, stream, logouts)}
      ${(stream ?? logouts) && deliveries(operator, id, events)} ${form}
      <p><a class="button even" href="${pathOf(id)}">Go to the application</a></p>
    `,
  };
}

function streamFacts(stream: StreamView): Html {
  return facts([
    [labelOf('eventsUrl'), stream.events_url ?? 'none: the application polls'],
    [labelOf('events'), codes(stream.events)],
    ...statusFacts(stream),
    ['Description', stream.description],
  ]);
}

function logoutFacts(logouts: StreamView): Html {
  return facts([[labelOf('backchannelLogoutUri'), logouts.events_url], ...statusFacts(logouts)]);
}

function statusFacts(stream: StreamView): [name: string, value: Fragment][] {
  const { status, status_reason: reason, failing_since: failing, next_attempt_at: next } = stream;
  return [
    ['Status', reason === null ? status : `${status}: ${reason}`],
    ['Failing since', failing !== null && moment(failing)],
    ['Next attempt', next !== null && moment(next)],
  ];
}

function statusActions(
  operator: Operator,
  id: string,
  stream: StreamView | null,
  logouts: StreamView | null,
): Html | false {
  const statuses = [stream, logouts].flatMap((one) => one?.status ?? []);
  if (statuses.length === 0) return false;
  const [action, label] = statuses.every((status) => status === 'enabled')
    ? ['pause', 'Pause']
    : ['enable', 'Enable'];
  return html`<div class="actions">
    ${
      mayActAs(operator.role, 'support') &&
      postForm(operator, pathOf(id, `events/${action}`), button(label, 'even'), '')
    }
    ${
      stream &&
      mayActAs(operator.role, 'admin') &&
      html`<a class="button danger" href="${pathOf(id, 'events/delete')}">Delete the stream</a>`
    }
  </div>`;
}

function deliveries(operator: Operator, id: string, page: ListPage<EventView>): Html {
  const isSupport = mayActAs(operator.role, 'support');
  return html`<section>
    <h2>Deliveries</h2>
    ${table(
      'Events of the last two weeks, newest first',
      [
        'Time (UTC)',
        'Event',
        'User',
        'State',
        { title: 'Attempts', isNumber: true },
        'Answer',
        'Next attempt (UTC)',
        isSupport && 'Action',
      ],
      page.items.map((event) => [
        timeCell(event.created_at),
        html`<span title="${event.jti}">${event.type}</span>`,
        event.user_id !== null && html`<a href="/users/${event.user_id}">${event.user_id}</a>`,
        event.state,
        event.attempts,
        event.answer,
        event.next_attempt_at !== null && timeCell(event.next_attempt_at),
        event.state !== 'waiting' &&
          postForm(
            operator,
            pathOf(id, `events/${event.jti}/redeliver`),
            html`<button class="plain" aria-label="${phrase('Redeliver {jti}', { jti: event.jti })}">
              Redeliver
            </button>`,
            '',
          ),
      ]),
    )}
    ${pageLinks(pathOf(id, 'events'), {}, page)}
  </section>`;
}

function receiverForm({ operator, client, stream, form }: EventsView, problems: Problems): Html {
  const chosen = form ? form.getAll('events') : (stream?.events ?? REQUESTABLE_EVENTS);
  const isPush = stream?.delivery === 'push';
  return html`<section>
    <h2>${isPush ? 'Change the receiver' : 'Register a receiver'}</h2>
    ${stream?.delivery === 'poll' && html`<p>A receiver replaces the polls of the application.</p>`}
    ${postForm(
      operator,
      pathOf(client.client_id, 'events/receiver'),
      html`${textField({
          name: 'eventsUrl',
          label: labelOf('eventsUrl'),
          type: 'url',
          value: form?.text('eventsUrl') ?? stream?.events_url ?? '',
          hint: 'An https URL, to which each event is posted as a signed token.',
          required: true,
          problems: problems.get('eventsUrl') ?? [],
        })}
        ${choices(
          'events',
          labelOf('events'),
          'checkbox',
          REQUESTABLE_EVENTS.map((type) => ({
            value: type,
            label: type,
            chosen: chosen.some((one) => one === type),
          })),
        )}
        ${textField({
          name: 'eventsAuthorization',
          label: labelOf('eventsAuthorization'),
          type: 'password',
          value: '',
          hint: 'Optional. Sent with each event, and never shown again. Empty keeps the header if the URL stays.',
          problems: problems.get('eventsAuthorization') ?? [],
        })}
        ${
          isPush &&
          html`<label class="scope"
            ><input type="checkbox" name="removeAuthorization" value="1" /><span
              >Remove the header</span
            ></label
          >`
        }
        <div class="actions">${button('Save')}</div>`,
    )}
  </section>`;
}
