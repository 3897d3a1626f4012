import type { EventPage } from '#administration/audit/audit.service.js';
import { AUDIT_TYPES } from '#audit/event.js';
import { html } from '#ui/html.js';
import { button, pageLinks, problemBox, selectField, table, textField, timeCell } from '../ui/components.js';
import type { Page } from '../ui/page.responder.js';
import { moment, t } from '../ui/text.js';
import { actorOfEvent, detailsOf, channelOf, objectsOf, textOf } from './event-text.js';

export const FILTERS = ['client', 'user', 'operator', 'type', 'since', 'until'] as const;
export type Filters = Readonly<Partial<Record<(typeof FILTERS)[number], string>>>;

const NOUNS = [...new Set(AUDIT_TYPES.map((type) => type.split('.', 1)[0] ?? ''))];

const TYPES = [
  { value: '', text: t('All') },
  ...NOUNS.flatMap((noun) => {
    const types = AUDIT_TYPES.filter((type) => type.startsWith(`${noun}.`));
    const choices = types.map((type) => ({ value: type as string, text: type as string }));
    return choices.length > 1 ? [{ value: noun, text: t('{noun}: all', { noun }) }, ...choices] : choices;
  }),
];

export function auditPage(
  filters: Filters,
  events: EventPage | null,
  problems: readonly string[] = [],
): Page {
  const { client = '', user = '', operator = '', type = '', since = '', until = '' } = filters;
  return {
    title: t('Audit trail'),
    status: problems.length > 0 ? 400 : 200,
    section: '/audit',
    content: html`
      ${problemBox(problems)}
      <form method="get" action="/audit" class="filter" role="search">
        ${textField({ name: 'client', label: t('Application (client ID or name)'), value: client })}
        ${textField({ name: 'user', label: t('User (email, username or id:42)'), value: user })}
        ${textField({ name: 'operator', label: t('Operator, as in “Who”'), value: operator })}
        ${selectField({ name: 'type', label: t('Event'), value: type }, TYPES)}
        ${textField({ name: 'since', label: t('From (UTC)'), value: since, type: 'datetime-local' })}
        ${textField({ name: 'until', label: t('Until (UTC)'), value: until, type: 'datetime-local' })}
        ${button(t('Search'), 'even')}
      </form>
      ${events && results(events, filters)}
    `,
  };
}

function results({ items, next, previous, searchedUntil, warnings }: EventPage, filters: Filters) {
  const parameters = new URLSearchParams(filters).toString();
  return html`
    ${problemBox(warnings)}
    ${table(
      t('Events, newest first'),
      [t('Time (UTC)'), t('Who'), t('What'), t('About'), t('Via'), t('Details')],
      items.map((event) => [
        timeCell(event.time),
        html`<span class="wraps short">${actorOfEvent(event)}</span>`,
        html`<span class="wraps">${textOf(event)}</span>`,
        html`<span class="wraps short">${objectsOf(event)}</span>`,
        channelOf(event),
        detailsOf(event),
      ]),
    )}
    ${
      searchedUntil !== null &&
      html`<p>
        ${t('Searched back to {time}. Older events follow on the next page.', { time: moment(searchedUntil) })}
      </p>`
    }
    ${pageLinks('/audit', filters, { next, previous })}
    <p>
      <a href="/audit/events.jsonl?${parameters}" download>${t('Download all matching events')}</a>
      (${t('one JSON object per line, oldest first')})
    </p>
  `;
}
