import type { ResultPage } from '#administration/operation.js';
import { type Fragment, html, type Html } from '#ui/html.js';
import { mayActAs } from '../role.js';
import type { Operator } from '../operator.js';
import { button, nextPage, type Notices, notices, table, textField } from './components.js';
import type { Page, Section } from './page.responder.js';
import { t } from './text.js';

interface ListView<Item> {
  readonly section: Section;
  readonly title: string;
  readonly caption: string;
  readonly search: string;
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

export function listPage<Item>(
  operator: Operator,
  { items, next }: ResultPage<Item, string | number>,
  search: string,
  view: ListView<Item>,
): Page {
  const { section, title, columns, actions } = view;
  const isSupport = mayActAs(operator.role, 'support');
  const list = table(
    view.caption,
    [isSupport && t('Select'), ...columns],
    items.map(view.row).map(({ id, name, cells }) => [selectionBox(id, name), ...cells]),
  );
  return {
    title,
    section,
    content: html`
      ${notices(view.changed)} ${view.head}
      <form method="get" action="${section}" class="filter" role="search">
        ${textField({ name: 'search', label: view.search, value: search })} ${button(t('Search'), 'even')}
      </form>
      ${isSupport && items.length > 0 ? selectionForm(list, actions) : list}
      ${nextPage(section, search === '' ? {} : { search }, next === null ? null : String(next))}
    `,
  };
}

/** Form that opens the confirmation of a job. Uses GET, so that a required login returns to the selection. */
function selectionForm(list: Html, actions: Readonly<Record<string, string>>): Html {
  return html`<form method="get" action="/jobs/new">
    ${list}
    <div class="actions">
      <span>${t('With selected:')}</span>
      ${Object.entries(actions).map(([action, text]) => html`<button class="even" name="action" value="${action}">${text}</button>`)}
    </div>
  </form>`;
}

function selectionBox(value: string | number, name: string): Html {
  return html`<input
    type="checkbox"
    name="id"
    value="${value}"
    aria-label="${t('Select {name}', { name })}"
  />`;
}
