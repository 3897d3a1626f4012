import { csrfField } from '#ui/browser-cookie.js';
import { type Fragment, html, type Html } from '#ui/html.js';
import type { ListPage } from '#platform/postgres/list-page.js';
import type { Account } from './account.js';
import { FORM_ID } from './form.js';
import { newFormId } from './form-id.js';
import { shortMoment } from './format.js';

export interface FieldView {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly hint?: string;
  readonly problems?: readonly string[];
  readonly required?: boolean;
  /** Values that the browser offers; other values are accepted, too. */
  readonly suggestions?: readonly string[];
  readonly type?: 'text' | 'email' | 'url' | 'password' | 'datetime-local' | 'file';
}

/** Moves the focus to the element without JavaScript. A page keeps only the first, as HTML requires. */
export const FOCUS = html`autofocus=""`;

/** Attributes that connect a field with its hint and its problems (WCAG 2.2, 1.3.1 and 3.3.1). */
function described({ name, hint, problems = [] }: Pick<FieldView, 'name' | 'hint' | 'problems'>): Html {
  const ids = [hint === undefined ? '' : `${name}-hint`, problems.length > 0 ? `${name}-problem` : ''];
  const list = ids.filter((id) => id !== '').join(' ');
  return html`${list !== '' && html`aria-describedby="${list}"`}
  ${problems.length > 0 && html`aria-invalid="true" ${FOCUS}`}`;
}

function around(field: Pick<FieldView, 'name' | 'label' | 'hint' | 'problems'>, input: Html): Html {
  const { name, label, hint, problems = [] } = field;
  return html`<div>
    <label for="${name}">${label}</label>
    ${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
    ${problems.length > 0 && html`<p class="problem" id="${name}-problem">${problems.map((problem, index) => html`${index > 0 && html`<br />`}${problem}`)}</p>`}
    ${input}
  </div>`;
}

export function textField(field: FieldView): Html {
  const { name, value, type = 'text', required = false, suggestions = [] } = field;
  return around(
    field,
    html`${suggestions.length > 0 && html`<datalist id="${name}-values">${suggestions.map((text) => html`<option value="${text}"></option>`)}</datalist>`}<input
        id="${name}"
        name="${name}"
        type="${type}"
        value="${value}"
        ${required && html`required`}
        ${suggestions.length > 0 && html`list="${name}-values"`}
        autocomplete="off"
        ${described(field)}
      />`,
  );
}

export function linesField(field: Omit<FieldView, 'value'> & { readonly value: readonly string[] }): Html {
  const { name, value, required = false } = field;
  return around(
    field,
    html`<textarea
      id="${name}"
      name="${name}"
      rows="3"
      spellcheck="false"
      ${required && html`required`}
      ${described(field)}
    >
${value.join('\n')}</textarea>`,
  );
}

export interface Choice {
  readonly value: string;
  readonly label: Fragment;
  readonly hint?: Fragment;
  readonly chosen: boolean;
}

export function choices(
  name: string,
  legend: string,
  kind: 'radio' | 'checkbox',
  all: readonly Choice[],
): Html {
  return html`<fieldset>
    <legend>${legend}</legend>
    ${all.map(
      ({ value, label, hint, chosen }) =>
        html`<label class="scope"
          ><input type="${kind}" name="${name}" value="${value}" ${chosen && html`checked`} /><span
            >${label} ${hint !== undefined && html`<small>${hint}</small>`}</span
          ></label
        >`,
    )}
  </fieldset>`;
}

export interface Option {
  readonly value: string;
  readonly text: string;
}

export function selectField(field: FieldView, options: readonly Option[]): Html {
  const { name, value: chosen } = field;
  return around(
    field,
    html`<select id="${name}" name="${name}" ${described(field)}>
      ${options.map(({ value, text }) => html`<option value="${value}" ${value === chosen && html`selected`}>${text}</option>`)}
    </select>`,
  );
}

export function postForm(
  { formKey, formIdKey }: Account,
  path: string,
  content: Fragment,
  style = 'narrow',
  hasFile = false,
): Html {
  return html`<form
    method="post"
    action="${path}"
    class="${style}"
    ${hasFile && html`enctype="multipart/form-data"`}
  >
    ${csrfField(formKey, path)} ${hiddenFields([[FORM_ID, newFormId(formIdKey)]])} ${content}
  </form>`;
}

export function hiddenFields(fields: Iterable<readonly [name: string, value: string]>): Html[] {
  return Array.from(fields, ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`);
}

export function button(text: string, look: '' | 'danger' | 'even' | 'plain' = ''): Html {
  return html`<button class="${look}">${text}</button>`;
}

/** `false` omits the column. */
type Column = string | { readonly title: string; readonly isNumber: true } | false;

interface ShownColumn {
  readonly index: number;
  readonly title: string;
  readonly look: Html | false;
}

/**
 * Table of records. On a narrow screen, each record is a block of named values, and a table of numbers scrolls, also by
 * keyboard (WCAG 2.2, 1.4.10 and 2.1.1). The ARIA roles preserve the table for assistive technology in every layout.
 */
export function table(
  caption: string,
  columns: readonly Column[],
  rows: readonly (readonly Fragment[])[],
  none: Fragment = 'None.',
): Html {
  if (rows.length === 0) return html`<p class="quiet">${none}</p>`;
  const shown = columns.flatMap((column, index): ShownColumn[] => {
    if (column === false) return [];
    if (typeof column === 'string') return [{ index, title: column, look: false }];
    return [{ index, title: column.title, look: html`class="number"` }];
  });
  const stacks = !shown.slice(1).every(({ look }) => look !== false);
  return html`<div class="scrolls" role="region" aria-label="${caption}" tabindex="0">
    <table role="table" class="${stacks && 'stacks'}">
      <caption>
        ${caption}
      </caption>
      <thead role="rowgroup">
        <tr role="row">
          ${shown.map(({ title, look }) => html`<th role="columnheader" scope="col" ${look}>${title}</th>`)}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${rows.map(
          (cells) =>
            html`<tr role="row">
              ${shown.map(({ index, title, look }) => html`<td role="cell" data-title="${title}" ${look}><div>${cells[index]}</div></td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Folded table of the numbers in a chart, without the rows in which all numbers are zero. */
export function numbers(
  caption: string,
  columns: readonly Column[],
  rows: readonly (readonly [name: Fragment, ...numbers: number[]])[],
  none?: Fragment,
): Html {
  const shown = rows.filter(([, ...values]) => values.some((value) => value !== 0));
  return html`<details>
    <summary>${caption}</summary>
    ${table(caption, columns, shown, none)}
  </details>`;
}

/** Omits empty values. */
export function facts(entries: readonly (readonly [name: Fragment, value: Fragment])[]): Html {
  const shown = entries.filter(([, value]) => value !== '' && (value ?? false) !== false);
  return html`<dl class="facts">
    ${shown.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`;
}

/** Value with a button that copies it. The script shows the button; without scripts, a click selects the value. */
export function copyable(id: string, value: string): Html {
  return html`<code class="copied" id="${id}">${value}</code> ${copyButton(id)}`;
}

/** @param id of the element with the value */
export function copyButton(id: string): Html {
  return html`<button type="button" class="even" data-copies="${id}" data-done="Copied" hidden>Copy</button>`;
}

export function timeCell(time: string): Html {
  return html`<time datetime="${time}">${shortMoment(time)}</time>`;
}

export function codes(values: readonly string[]): Html | false {
  if (values.length === 0) return false;
  return html`${values.map((value, index) => html`${index > 0 && html`<br />`}<code>${value}</code>`)}`;
}

/** Problems of a form that none of its fields shows. */
export function otherProblems(problems: ReadonlyMap<string, readonly string[]>, fields: Html): Html | false {
  const others = [...problems].filter(([name]) => !fields.text.includes(`id="${name}-problem"`));
  return problemBox(
    others.flatMap(([, texts]) => texts),
    html`tabindex="-1" ${FOCUS}`,
  );
}

export function problemBox(problems: readonly Fragment[], attributes: Html | false = false): Html | false {
  if (problems.length === 0) return false;
  return html`<div role="alert" ${attributes}>${problems.map((problem) => html`<p>${problem}</p>`)}</div>`;
}

export function noteBox(text: Fragment): Html {
  return html`<p role="status" tabindex="-1" ${FOCUS}>${text}</p>`;
}

/** Result of a change, shown above the page that the operator returns to. */
export interface Notices {
  readonly note?: string;
  readonly warnings?: readonly string[];
}

export function notices({ note, warnings = [] }: Notices = {}): Html {
  return html`${note !== undefined && noteBox(note)} ${problemBox(warnings)}`;
}

/** Renders a text of the error guide, where backticks mark code. */
export function guideText(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`))}`;
}

/** Links to the newer and the older page of a list. */
export function pageLinks(
  path: string,
  query: Readonly<Record<string, string>>,
  { next, previous }: Pick<ListPage<unknown>, 'next' | 'previous'>,
  texts = { pages: 'Pages', previous: 'Previous page', next: 'Next page' },
  fragment = '',
): Html | false {
  if (next === null && previous === null) return false;
  const link = (cursor: string | null, text: string) =>
    cursor !== null &&
    html`<a
      class="button even"
      href="${path}?${new URLSearchParams({ ...query, cursor }).toString()}${fragment}"
      >${text}</a
    >`;
  return html`<div class="actions" role="navigation" aria-label="${texts.pages}">
    ${link(previous, texts.previous)} ${link(next, texts.next)}
  </div>`;
}
