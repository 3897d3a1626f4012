import { html } from '#ui/html.js';
import type { Operator } from '../operator.js';
import { problemBox } from '../ui/components.js';
import type { ConfirmView } from '../ui/confirm.page.js';
import { describedFilter } from '../ui/list.page.js';
import type { Page } from '../ui/page.responder.js';
import { phrase } from '../ui/text.js';
import { ACTIONS } from './job-actions.js';
import type { Selection } from './selection.js';

export const SHOWN_NAMES = 20;

interface Confirmation {
  readonly job: string;
  readonly count: number;
  /** Live grants that end or have no effect. */
  readonly grants: number;
  /** Names of the first entries. */
  readonly names: ReadonlyMap<string, string>;
}

export function confirmJobView(
  operator: Operator,
  { action, items, all, back, fields }: Selection,
  { job, count, grants, names }: Confirmation,
): ConfirmView {
  const { question, effect, button, section } = ACTIONS[action];
  const shown = items.slice(0, SHOWN_NAMES).map((item) => names.get(item) ?? item);
  const more = items.length - shown.length;
  const filter = all === null ? [] : describedFilter(section, all);
  return {
    operator,
    section,
    title: question(count),
    ...((action !== 'revoke-grants' || names.size > 0) && {
      subject: html`${shown.map((name, at) => html`${at > 0 && ', '}<bdi>${name}</bdi>`)}${more > 0 && phrase(' and {more, number} more', { more })}`,
    }),
    text: html`${all !== null && html`This is every entry of the list that matches now${filter.length > 0 && html`: <bdi>${filter.join(', ')}</bdi>`}. `}
    ${effect}
    ${grants > 0 && phrase('This affects {grants, plural, one {one live grant} other {# live grants}}.', { grants })}`,
    path: '/jobs',
    button,
    look: action === 'enable-applications' ? '' : 'danger',
    back,
    fields: [['job', job], ['count', String(items.length)], ['grants', String(grants)], ...fields],
  };
}

export function unusableSelectionPage({ action, back }: Selection, problem: string): Page {
  const { title, section } = ACTIONS[action];
  return {
    title,
    status: 400,
    section,
    content: html`${problemBox([problem])}
      <p><a class="button" href="${back}">Back to the list</a></p>`,
  };
}
