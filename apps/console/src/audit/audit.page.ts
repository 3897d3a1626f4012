import type { EventPage } from '#audit/operations/audit.service.js';
import { AUDIT_TYPES } from '#audit/event.js';
import { CHECK_NAMES } from '#error-guide/error-guide.js';
import { html } from '#ui/html.js';
import { button, pageLinks, problemBox, selectField, table, textField, timeCell } from '#pages/components.js';
import type { Page } from '#pages/page.responder.js';
import { moment, phrase } from '#pages/format.js';
import { actorOfEvent, channelOf, detailsOf, type EventNames, objectsOf, textOf } from './event-text.js';

export const FILTERS = [
  'client',
  'user',
  'operator',
  'type',
  'check',
  'grant',
  'reference',
  'since',
  'until',
] as const;
export type Filters = Readonly<Partial<Record<(typeof FILTERS)[number], string>>>;

const NOUNS = [...new Set(AUDIT_TYPES.map((type) => type.split('.', 1)[0] ?? ''))];

const TYPES = [
  { value: '', text: 'All' },
  ...NOUNS.flatMap((noun) => {
    const types = AUDIT_TYPES.filter((type) => type.startsWith(`${noun}.`));
    const choices = types.map((type) => ({ value: type as string, text: type as string }));
    return choices.length > 1
      ? [{ value: noun, text: phrase('{noun}: all', { noun }) }, ...choices]
      : choices;
  }),
];

export function auditPage(
  filters: Filters,
  events: (EventPage & { readonly names: EventNames }) | null,
  problems: readonly string[] = [],
): Page {
  const {
    client = '',
    user = '',
    operator = '',
    type = '',
    check = '',
    grant = '',
    reference = '',
  } = filters;
  const { since = '', until = '' } = filters;
  return {
    title: 'Audit trail',
    status: problems.length > 0 ? 400 : 200,
    section: '/audit',
    content: html`
      ${problemBox(problems)}
      <form method="get" action="/audit" class="filter" role="search">
        ${textField({ name: 'client', label: 'Application (client ID or name)', value: client })}
        ${textField({ name: 'user', label: 'User (email, username or id:42)', value: user })}
        ${textField({ name: 'operator', label: 'Operator, as in “Who”', value: operator })}
        ${selectField({ name: 'type', label: 'Event', value: type }, TYPES)}
        ${textField({ name: 'check', label: 'Failed check', value: check, suggestions: CHECK_NAMES })}
        ${textField({ name: 'grant', label: 'Grant ID', value: grant })}
        ${textField({ name: 'reference', label: 'Error reference', value: reference })}
        ${textField({ name: 'since', label: 'From (UTC)', value: since, type: 'datetime-local' })}
        ${textField({ name: 'until', label: 'Until (UTC)', value: until, type: 'datetime-local' })}
        ${button('Search', 'even')}
      </form>
      ${events && results(events, filters)}
    `,
  };
}

const LABELS: Readonly<Record<keyof Filters, string>> = {
  client: 'application',
  user: 'user',
  operator: 'operator',
  type: 'event',
  check: 'failed check',
  grant: 'grant',
  reference: 'error reference',
  since: 'from',
  until: 'until',
};

/** Says what was searched without a result. */
function noEvents(filters: Filters): string {
  const searched = FILTERS.flatMap((name) =>
    filters[name] === undefined ? [] : [`${LABELS[name]} “${filters[name]}”`],
  );
  return searched.length === 0
    ? 'The audit trail has no events.'
    : phrase('No event matches {searched}.', { searched: searched.join(', ') });
}

function results(
  {
    items,
    next,
    previous,
    searchedTo,
    isForward,
    warnings,
    names,
  }: EventPage & { readonly names: EventNames },
  filters: Filters,
) {
  const parameters = new URLSearchParams(filters).toString();
  return html`
    ${problemBox(warnings)}
    ${table(
      'Events, newest first',
      ['Time (UTC)', 'Who', 'What', 'About', 'Via', 'Details'],
      items.map((event) => [
        timeCell(event.time),
        html`<span class="wraps short">${actorOfEvent(event, names)}</span>`,
        html`<span class="wraps">${textOf(event)}</span>`,
        html`<span class="wraps short">${objectsOf(event, names)}</span>`,
        channelOf(event),
        detailsOf(event),
      ]),
      noEvents(filters),
    )}
    ${
      searchedTo !== null &&
      html`<p>
        ${
          isForward
            ? phrase('Searched back to {time}. Older events follow on the next page.', {
                time: moment(searchedTo),
              })
            : phrase('Searched up to {time}. Newer events are on the previous page.', {
                time: moment(searchedTo),
              })
        }
      </p>`
    }
    ${pageLinks('/audit', filters, { next, previous })}
    <p>
      <a href="/audit/events.jsonl?${parameters}" download>Download all matching events</a>
      (one JSON object per line, oldest first)
    </p>
  `;
}
