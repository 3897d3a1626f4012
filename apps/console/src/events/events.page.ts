import type { ClientHistory } from '#audit/operations/explain/client-history.service.js';
import type { RefusalGroup } from '#audit/operations/explain/refusal-summary.js';
import { PARTY_NAMES } from '#error-guide/guide-entry.js';
import { html, type Html } from '#ui/html.js';
import { pathOf } from '../applications/application.page.js';
import { button, guideText, problemBox, selectField, table, textField, timeCell } from '#pages/components.js';
import { referenceLink, refusalCause } from '../ui/console-components.js';
import type { Page } from '#pages/page.responder.js';
import { moment, phrase } from '#pages/format.js';
import { chart } from '../ui/charts.js';

export const PERIODS = { '23h': 'Last 24 hours, by hour', '29d': 'Last 30 days, by day' } as const;

export interface Question {
  readonly reference: string;
  readonly client: string;
  readonly period: string;
  readonly since: string;
}

export function eventsPage(question: Question, content: Html | false = false, status = 200): Page {
  const { reference, client, period, since } = question;
  const periods = Object.entries(PERIODS).map(([value, text]) => ({ value, text }));
  return {
    title: 'What happened',
    status,
    section: '/events',
    content: html`
      <form method="get" action="/events" class="filter">
        ${textField({ name: 'reference', label: 'Error reference', value: reference })}
        ${button('Explain', 'even')}
      </form>
      <form method="get" action="/events" class="filter">
        ${textField({ name: 'client', label: 'Application (as in the list of applications)', value: client })}
        ${selectField({ name: 'period', label: 'Period', value: period }, periods)}
        ${textField({ name: 'since', label: 'Or since (UTC)', value: since, type: 'datetime-local' })}
        ${button('Show', 'even')}
      </form>
      ${content}
    `,
  };
}

/** Shows the applications that match a search, each with a link to its history. */
export function choicePage(question: Question, names: ReadonlyMap<string, string>): Page {
  const { client, period, since } = question;
  const pathTo = (id: string) =>
    `/events?${new URLSearchParams({ client: id, period, ...(since !== '' && { since }) }).toString()}`;
  const list = new URLSearchParams({ search: client });
  return eventsPage(
    question,
    html`<section>
      <h2>${phrase('Several applications match “{client}”', { client })}</h2>
      <ul>
        ${[...names].map(
          ([id, name]) =>
            html`<li>
              <a href="${pathTo(id)}"><bdi>${name}</bdi></a> <code>${id}</code>
            </li>`,
        )}
      </ul>
      <p><a href="/applications?${list.toString()}">Search in the list of applications</a></p>
    </section>`,
  );
}

export function historyPage(question: Question, history: ClientHistory): Page {
  const { clientId, name, since, groups, refused, logouts, warnings } = history;
  const audit = new URLSearchParams({ client: clientId });
  return eventsPage(
    question,
    html`
      <section>
        <h2>
          <a href="${pathOf(clientId)}"><bdi>${name ?? clientId}</bdi></a>
        </h2>
        ${problemBox(warnings)}
        <p>
          ${phrase('Since {since}: {refused, plural, =0 {no request was refused} one {one request was refused} other {# requests were refused}}.', { since: moment(since), refused })}
          ${logouts > 0 && phrase('{logouts, plural, one {One logout token was} other {# logout tokens were}} not accepted.', { logouts })}
          <a href="/audit?${audit.toString()}">All events of the application</a>
        </p>
        ${groups.length > 0 && causes(groups)} ${chart(history)}
      </section>
    `,
  );
}

function causes(groups: readonly RefusalGroup[]): Html {
  return table(
    'Refused requests by cause, the most frequent first',
    [{ title: 'Count', isNumber: true }, 'Cause', 'Most likely remedy', 'Latest (UTC)', 'Latest reference'],
    groups.map(({ count, party, remedy, last, reference, ...group }) => [
      count,
      refusalCause(group),
      party !== null &&
        html`<div class="prose"><strong>${PARTY_NAMES[party]}</strong>: ${guideText(remedy ?? '')}</div>`,
      timeCell(last),
      reference !== null && referenceLink(reference),
    ]),
  );
}
