import type { HistoryPeriod } from '#audit/operations/explain/client-history.service.js';
import type { Difference } from '#audit/operations/explain/comparison.js';
import type { ExplainedRefusal, RefusedHistory } from '#audit/operations/refused/refused-request.service.js';
import type { OwnedClient } from '#clients/owners/owned-client.store.js';
import { columnChart, legend } from '#pages/column-chart.js';
import {
  button,
  facts,
  guideText,
  numbers,
  pageLinks,
  problemBox,
  selectField,
  table,
  textField,
} from '#pages/components.js';
import type { Page } from '#pages/page.responder.js';
import type { ListPage } from '#platform/postgres/list-page.js';
import { html, type Html } from '#ui/html.js';
import type { Translator } from '../ui/i18n/translator.js';
import { translatedCause } from '../ui/causes.js';
import { backLink, factsOf, inEnglish, pathOf, timeOf } from '../ui/parts.js';
import type { Viewer } from '../developer.js';

export const FILTERS = ['reference', 'cause', 'since', 'until'] as const;

/** Skips the charts, which are above the list. */
export const REFUSED = '#refused';

export type RefusedQuery = Readonly<Partial<Record<(typeof FILTERS)[number], string>>>;

export interface ActivityView extends Viewer {
  readonly client: OwnedClient;
  readonly query: RefusedQuery;
  readonly histories: readonly RefusedHistory[];
  /** Null if the query is invalid. */
  readonly refused: ListPage<ExplainedRefusal> | null;
}

export function activityPage(view: ActivityView): Page {
  const { translator, client, query, histories, refused } = view;
  const path = pathOf(client.clientId, 'activity');
  return {
    title: translator.text('activity.title'),
    status: refused ? 200 : 400,
    section: '/',
    content: html`
      ${backLink(client)}
      <p>${translator.text('activity.hint')}</p>
      ${histories.map((history) => chart(translator, history))}
      <h2 id="refused">${translator.text('refused.title')}</h2>
      <p>${translator.text('refused.hint')}</p>
      ${refused === null && problemBox([translator.text('refused.invalid')])} ${filterForm(view, path)}
      ${
        refused &&
        table(
          translator.text('refused.title'),
          translator.texts('history.time', 'refused.cause', 'refused.request', 'refused.reference'),
          refused.items.map(({ id, request, explanation }) => [
            timeOf(translator, request.createdAt),
            html`<a href="${path}/${id}">${causeOf(translator, { request, explanation }).title}</a>
              <code>${request.cause}</code>`,
            html`<code>${request.request}</code>`,
            html`<code>${request.reference}</code>`,
          ]),
          translator.text('refused.none'),
        )
      }
      ${
        refused &&
        pageLinks(
          path,
          query,
          refused,
          {
            pages: translator.text('pages.title'),
            previous: translator.text('pages.previous'),
            next: translator.text('pages.next'),
          },
          REFUSED,
        )
      }
    `,
  };
}

function filterForm({ translator, query, histories }: ActivityView, path: string): Html {
  const causes = new Set(
    histories.flatMap(({ groups }) => groups.map(({ check, error }) => check ?? error ?? '')),
  );
  if (query.cause !== undefined) causes.add(query.cause);
  const field = (name: (typeof FILTERS)[number]) => ({
    name,
    label: translator.text(`refused.${name}`),
    value: query[name] ?? '',
  });
  return html`<form method="get" action="${path}${REFUSED}" class="filter" role="search">
    ${textField(field('reference'))}
    ${selectField(field('cause'), [
      { value: '', text: translator.text('refused.all') },
      ...[...causes].sort().map((cause) => ({ value: cause, text: cause })),
    ])}
    ${textField({ ...field('since'), type: 'datetime-local' })}
    ${textField({ ...field('until'), type: 'datetime-local' })}
    ${button(translator.text('refused.show'), 'even')}
  </form>`;
}

function chart(translator: Translator, { unit, periods }: RefusedHistory): Html {
  const isDay = unit === 'day';
  const nameOf = ({ start }: HistoryPeriod) =>
    isDay ? translator.date(new Date(start), 'UTC') : translator.time(new Date(start));
  const series = [
    {
      title: translator.text('activity.succeeded'),
      look: 'issued',
      count: ({ issued, refreshed }: HistoryPeriod) => issued + refreshed,
    },
    {
      title: translator.text('activity.refused'),
      look: 'refused',
      count: ({ refused }: HistoryPeriod) => Object.values(refused).reduce((sum, count) => sum + count, 0),
    },
  ];
  const title = translator.text(isDay ? 'activity.days' : 'activity.hours');
  if (periods.every((period) => series.every(({ count }) => count(period) === 0)))
    return html`<h2>${title}</h2>
      <p class="quiet">${translator.text('refused.none_yet')}</p>`;
  return columnChart({
    id: `chart-${unit}`,
    title,
    description: translator.text('activity.chart'),
    peak: (count) => translator.text('activity.peak', { count }),
    columns: periods.map((period) => ({
      name: nameOf(period),
      bars: series.map(({ look, count }) => ({ look, count: count(period) })),
    })),
    below: html`<ul class="plain legend">
        ${series.map(({ title, look }) => legend(title, look))}
      </ul>
      ${numbers(
        translator.text(isDay ? 'activity.numbers_days' : 'activity.numbers_hours'),
        [
          translator.text(isDay ? 'activity.day' : 'activity.hour'),
          ...series.map(({ title }) => ({ title, isNumber: true }) as const),
        ],
        periods.map((period) => [nameOf(period), ...series.map(({ count }) => count(period))]),
      )}`,
  });
}

/** Explains a request, as `operator explain` does, to the developer of the application. */
export function refusalPage(
  { translator }: Viewer,
  client: OwnedClient,
  { request, explanation }: ExplainedRefusal,
): Page {
  const { comparison, remedies } = explanation;
  const { title, meaning, actions } = causeOf(translator, { request, explanation });
  const others = remedies.flatMap(({ party, action }) =>
    party === 'application' ? [] : [{ party, action }],
  );
  return {
    title: translator.text('refused.one'),
    section: '/',
    content: html`
      <p>
        <a href="${pathOf(client.clientId, 'activity')}">${translator.text('activity.title')}</a>
      </p>
      <h2>${title}</h2>
      ${meaning && html`<p>${meaning}</p>`}
      ${
        actions.length > 0 &&
        html`<h3>${translator.text('refused.yours')}</h3>
          <ul>
            ${actions.map((action) => html`<li>${action}</li>`)}
          </ul>`
      }
      ${
        actions.length === 0 &&
        others.length > 0 &&
        html`<h3>${translator.text('refused.others')}</h3>
          <ul>
            ${others.map(({ party, action }) => html`<li>${translator.text(`refused.${party}`)}: ${inEnglish(translator, guideText(action))}</li>`)}
          </ul>`
      }
      ${factsOf(translator, {
        'history.time': timeOf(translator, request.createdAt),
        'refused.cause': html`<code>${request.cause}</code>`,
        'refused.response': html`<code>${[request.status, request.error].filter(Boolean).join(' ')}</code>`,
        'refused.request': request.request !== null && html`<code>${request.request}</code>`,
        'refused.description': request.description !== '' && inEnglish(translator, request.description),
        'refused.reference': request.reference !== null && html`<code>${request.reference}</code>`,
      })}
      ${
        comparison.values.length > 0 &&
        html`<h3>${translator.text('refused.values')}</h3>
          ${facts(comparison.values.map(({ name, value }) => [inEnglish(translator, name), html`<code>${value}</code>`]))}
          ${comparison.differences.map((difference) => compared(translator, difference))}`
      }
    `,
  };
}

function causeOf(translator: Translator, { request, explanation }: Omit<ExplainedRefusal, 'id'>) {
  const { title, meaning, remedies } = explanation;
  return translatedCause(translator, request.cause, {
    title: title ?? request.cause,
    meaning: meaning ?? '',
    actions: remedies.filter(({ party }) => party === 'application').map(({ action }) => action),
  });
}

function compared(translator: Translator, { parts }: Difference): Html {
  return html`<p>
    ${translator.text('refused.difference')}
    <code
      >${parts.map(({ text, only }) =>
        only === undefined ? text : only === 'sent' ? html`<ins>${text}</ins>` : html`<del>${text}</del>`,
      )}</code
    ><br /><span class="quiet"
      ><ins>${translator.text('refused.only_sent')}</ins>
      <del>${translator.text('refused.only_expected')}</del></span
    >
  </p>`;
}
