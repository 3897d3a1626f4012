import { changesText } from '#audit/operations/changed-fields.js';
import type { AuditEvent } from '#audit/event.js';
import { type Difference, valueText } from '#audit/operations/explain/comparison.js';
import { firstValueOf } from '#audit/operations/explain/explanation.js';
import type { ExplainedRequest } from '#audit/operations/explain/explain.service.js';
import { PARTY_NAMES } from '#error-guide/guide-entry.js';
import { html, type Html } from '#ui/html.js';
import { clientLink, type EventNames, grantLink, textOf, userLink } from '../audit/event-text.js';
import type { Operator } from '../operator.js';
import { facts, guideText, problemBox, table, timeCell } from '#pages/components.js';
import { referenceLink } from '../ui/console-components.js';
import type { Page } from '#pages/page.responder.js';
import { commandWithPage } from '../ui/remedy.js';
import { moment } from '#pages/format.js';
import type { EventView } from '#events/operations/event.service.js';
import { pathOf } from '../applications/application.page.js';
import { eventsPage, type Question } from './events.page.js';

type Explained = ExplainedRequest & { readonly warnings: readonly string[]; readonly names: EventNames };

export function explanationPage(
  operator: Operator,
  question: Question,
  { explanation, around, uses, deliveries, warnings, names }: Explained,
): Page {
  const { event, others, clientId, userId, grantId, title, meaning, comparison, remedies } = explanation;
  const events = [event, ...others];
  const request = firstValueOf(events, (from) => from.request);
  return eventsPage(
    question,
    html`<section>
      <h2>${title ?? 'This request was not refused'}</h2>
      ${problemBox(warnings)} ${meaning !== null && html`<p>${guideText(meaning)}</p>`}
      ${
        remedies.length > 0 &&
        html`<h3>Who can fix it, most likely first</h3>
          <ul>
            ${remedies.map(({ party, action, commands }) => html`<li><strong>${PARTY_NAMES[party]}</strong>: ${guideText(action)} ${commands.map((words) => commandWithPage(operator, words))}</li>`)}
          </ul>`
      }
      ${facts([
        ['Failed check', event.check !== undefined && html`<code>${event.check}</code>`],
        ['Response', [firstValueOf(events, (from) => from.status), event.error].filter(Boolean).join(' ')],
        ['Description', firstValueOf(events, (from) => from.description)],
        ['Application', clientId !== null && clientLink(clientId, names)],
        ['User', userId !== null && userLink(userId, names)],
        ['Time', moment(event.time)],
        ['Request', request && html`<code>${request.method} ${request.path}</code>`],
        ['Service', events.map(({ service }) => service).join(', ')],
        ['Grant', grantId !== null && grantLink(grantId)],
        ['Address', firstValueOf(events, (from) => from.address)],
        ['User agent', firstValueOf(events, (from) => from.user_agent)],
      ])}
      ${
        comparison.values.length > 0 &&
        html`<h3>Values</h3>
          ${facts(comparison.values.map(({ name, value }) => [name, html`<code>${value}</code>`]))}
          ${comparison.differences.map(difference)}`
      }
      ${uses.length > 0 && usesTable(uses)}
      ${clientId !== null && deliveries.length > 0 && deliveryTable(deliveries, clientId)}
      ${clientId !== null && aroundTable(around, names)}
    </section>`,
  );
}

function difference({ parts }: Difference): Html {
  return html`<p>
    Character by character:
    <code
      >${parts.map(({ text, only }) =>
        only === undefined ? text : only === 'sent' ? html`<ins>${text}</ins>` : html`<del>${text}</del>`,
      )}</code
    ><br /><span class="quiet"><ins>only sent</ins>, <del>only expected</del></span>
  </p>`;
}

function usesTable(uses: readonly AuditEvent[]): Html {
  return table(
    'Latest uses of the grant: two different callers suggest theft',
    ['Time (UTC)', 'Event', { title: 'Generation', isNumber: true }, 'Address', 'User agent', 'Reference'],
    uses.map((event) => [
      timeCell(event.time),
      textOf(event),
      valueText(event.detail?.['generation'] ?? event.detail?.['sent'] ?? ''),
      event.address ?? 'not recorded',
      event.user_agent,
      event.reference !== undefined && referenceLink(event.reference),
    ]),
  );
}

function deliveryTable(deliveries: readonly EventView[], clientId: string): Html {
  return html`${table(
      'Events for the application, newest first',
      ['Time (UTC)', 'Event', 'State', 'Answer', 'Next attempt (UTC)'],
      deliveries.map((event) => [
        timeCell(event.created_at),
        event.type,
        event.state,
        event.answer,
        event.next_attempt_at !== null && timeCell(event.next_attempt_at),
      ]),
    )}
    <p><a href="${pathOf(clientId, 'events')}">Events of the application</a></p>`;
}

function aroundTable(around: readonly AuditEvent[], names: EventNames): Html {
  return table(
    'The same application, five minutes before and after',
    ['Time (UTC)', 'Event', 'Failed check', 'User', 'Reference'],
    around.map((event) => [
      timeCell(event.time),
      textOf(event),
      event.check ?? event.error ?? changesText(event),
      event.user_id !== undefined && userLink(event.user_id, names),
      event.reference !== undefined && referenceLink(event.reference),
    ]),
  );
}
