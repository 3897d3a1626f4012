import { type ListPage, MAX_COUNT } from '#platform/postgres/list-page.js';
import { type Fragment, html, type Html } from '#ui/html.js';
import { mayActAs } from '../role.js';
import type { Operator } from '../operator.js';
import {
  button,
  hiddenFields,
  type Notices,
  notices,
  pageLinks,
  postForm,
  selectField,
  table,
  textField,
} from '#pages/components.js';
import type { Page } from '#pages/page.responder.js';
import type { Section } from './console-frame.js';
import { phrase } from '#pages/format.js';

const KINDS = {
  '/applications': {
    confidential: 'on a server',
    public: 'in a browser, or on a phone or computer',
    document: 'describes itself by a metadata document',
    api: 'API client of an operator',
  },
  '/users': {
    password: 'with a password',
    product: 'logs in at the product',
    operator: 'has a role in the console',
  },
} as const satisfies Partial<Record<Section, Readonly<Record<string, string>>>>;

export type ListSection = keyof typeof KINDS;

export const FILTERS = ['search', 'state', 'kind'] as const;

/** Filter and position of a list, as in its URL. Empty fields are absent. */
export type ListQuery = Readonly<Partial<Record<(typeof FILTERS)[number] | 'cursor', string>>>;

export function listPath(section: ListSection, query: ListQuery): string {
  const parameters = new URLSearchParams(query).toString();
  return parameters === '' ? section : `${section}?${parameters}`;
}

export interface CountedPage<Item> extends ListPage<Item> {
  /** Number of matching records, at most `MAX_COUNT` + 1. */
  readonly count: number;
}

interface ListView<Item> {
  readonly section: ListSection;
  readonly title: string;
  readonly caption: string;
  readonly search: string;
  /** Message with `{count}`. */
  readonly counted: string;
  readonly columns: readonly string[];
  readonly row: (item: Item) => {
    readonly id: string | number;
    readonly name: string;
    readonly cells: readonly Fragment[];
  };
  readonly actions: Readonly<Record<string, string>>;
  readonly changed?: Notices | undefined;
  readonly head?: Html | false;
}

const STATES = { enabled: 'enabled', disabled: 'disabled' };

export function listPage<Item>(
  operator: Operator,
  page: CountedPage<Item>,
  { cursor, ...filter }: ListQuery,
  view: ListView<Item>,
): Page {
  const { section, title, columns, actions } = view;
  const isSupport = mayActAs(operator.role, 'support');
  const list = table(
    view.caption,
    [isSupport && 'Select', ...columns],
    page.items.map(view.row).map(({ id, name, cells }) => [selectionBox(id, name), ...cells]),
  );
  return {
    title,
    section,
    content: html`
      ${notices(view.changed)} ${view.head} ${filterForm(view, filter)} ${summary(page.count, filter, view)}
      ${
        page.items.length > 0 &&
        (isSupport
          ? postForm(
              operator,
              '/jobs/new',
              html`${hiddenFields(Object.entries({ ...filter, ...(cursor !== undefined && { cursor }) }))}
              ${list} ${selectionActions(page, actions)}`,
              '',
            )
          : list)
      }
      ${pageLinks(section, filter, page)}
    `,
  };
}

function filterForm<Item>({ section, search }: ListView<Item>, filter: ListQuery): Html {
  const choice = (name: 'state' | 'kind', label: string, texts: Readonly<Record<string, string>>) =>
    selectField({ name, label, value: filter[name] ?? '' }, [
      { value: '', text: 'All' },
      ...Object.entries(texts).map(([value, text]) => ({ value, text })),
    ]);
  return html`<form method="get" action="${section}" class="filter" role="search">
    ${textField({ name: 'search', label: search, value: filter.search ?? '' })}
    ${choice('state', 'State', STATES)} ${choice('kind', 'Kind', KINDS[section])} ${button('Search', 'even')}
  </form>`;
}

/** Says how many records match, and what was searched. */
function summary<Item>(count: number, filter: ListQuery, { section, counted }: ListView<Item>): Html {
  const searched = describedFilter(section, filter);
  const number =
    count > MAX_COUNT
      ? phrase('More than {count, number}', { count: MAX_COUNT })
      : phrase(counted, { count });
  if (searched.length === 0) return html`<p>${number}</p>`;
  return html`<p role="status">
    ${number}: <bdi>${searched.join(', ')}</bdi>. <a href="${section}">Show all</a>
  </p>`;
}

export function describedFilter(section: ListSection, { search, state, kind }: ListQuery): string[] {
  const texts: Readonly<Record<string, string>> = { ...KINDS[section], ...STATES };
  return [
    ...(search === undefined ? [] : [`“${search}”`]),
    ...[state, kind].flatMap((value) => (value === undefined ? [] : [texts[value] ?? value])),
  ];
}

/** The form that contains this opens the confirmation of a job. */
function selectionActions<Item>(
  { items, count }: CountedPage<Item>,
  actions: Readonly<Record<string, string>>,
): Html {
  return html`${
      count > items.length &&
      html`<label class="scope"
        ><input type="checkbox" name="all" value="1" /><span
          >${phrase('Select all {count, number} that match, not only those on this page', { count })}</span
        ></label
      >`
    }
    <div class="actions">
      <span>With selected:</span>
      ${Object.entries(actions).map(([action, text]) => html`<button class="even" name="action" value="${action}">${text}</button>`)}
    </div>`;
}

function selectionBox(value: string | number, name: string): Html {
  return html`<input
    type="checkbox"
    name="id"
    value="${value}"
    aria-label="${phrase('Select {name}', { name })}"
  />`;
}
