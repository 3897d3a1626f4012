import { type Fragment, html, type Html } from '#ui/html.js';
import { mayActAs } from '../role.js';
import type { Operator } from '../operator.js';
import { button, facts, postForm, problemBox, table, timeCell } from '#pages/components.js';
import type { Page } from '#pages/page.responder.js';
import { moment, phrase } from '#pages/format.js';
import { type ActionName, ACTIONS, isAction, JOB_ROLE } from './job-actions.js';
import type { Job, JobState } from './job.store.js';
import type { ConfirmView } from '../ui/confirm.page.js';
import { describedFilter } from '../ui/list.page.js';
import type { Selection } from './selection.js';

const STATES: Readonly<Record<JobState, string>> = {
  running: 'running',
  interrupted: 'interrupted',
  stopped: 'stopped',
  refused: 'ended',
  finished: 'finished',
};

const EXPLANATIONS: Readonly<Record<JobState, string>> = {
  running: '',
  interrupted: 'The process that ran it has ended. Continue to finish the rest.',
  stopped: 'An operator stopped it. Finished entries stay changed.',
  refused: 'Its operator no longer has the role. Another operator can continue.',
  finished: '',
};

export function jobsPage(jobs: readonly Job[]): Page {
  return {
    title: 'Bulk actions',
    section: '/jobs',
    content: html`
      <p>To start one, select entries in the list of applications or users.</p>
      ${table(
        'Bulk actions of the last seven days, newest first',
        [
          'Action',
          'State',
          { title: 'Done', isNumber: true },
          { title: 'Failed', isNumber: true },
          'Operator',
          'Started (UTC)',
        ],
        jobs.map((job) => [
          html`<a href="/jobs/${job.id}">${titleOf(job)}</a>`,
          stateTag(job),
          `${job.done} / ${job.total}`,
          job.failed,
          html`<bdi>${job.operator}</bdi>`,
          timeCell(new Date(job.startedAt).toISOString()),
        ]),
      )}
    `,
  };
}

export function jobPage(
  operator: Operator,
  job: Job & { readonly action: ActionName },
  names: ReadonlyMap<string, string>,
  refreshes: boolean,
): Page {
  const { id, action, state, total, done, failed, failures, warnings, endedAt } = job;
  const path = `/jobs/${id}`;
  const mayWork = mayActAs(operator.role, JOB_ROLE);
  const isOpen = state === 'interrupted' || state === 'stopped' || state === 'refused';
  const counts = phrase('{done} of {total} done, {failed} failed', { done, total, failed });
  return {
    title: `${titleOf(job)}: ${counts}`,
    section: '/jobs',
    heading: html`${titleOf(job)} ${stateTag(job)}`,
    content: html`
      ${EXPLANATIONS[state] !== '' && html`<p role="alert">${EXPLANATIONS[state]}</p>`}
      <p>
        <label for="progress">${counts}</label>
        <progress
          id="progress"
          max="${Math.max(total, 1)}"
          value="${state === 'finished' ? Math.max(total, 1) : done + failed}"
        ></progress>
      </p>
      <div class="actions">
        ${state === 'running' && html`<a class="button even" href="${path}${refreshes ? '' : '?refresh=off'}">Refresh now</a>`}
        ${state === 'running' && (refreshes ? html`<a href="${path}?refresh=off">Stop refreshing</a>` : html`<a href="${path}">Refresh automatically</a>`)}
        ${mayWork && state === 'running' && postForm(operator, `${path}/stop`, button('Stop', 'danger'), '')}
        ${mayWork && isOpen && postForm(operator, path, button('Continue'), '')}
        ${mayWork && state === 'finished' && failed > 0 && html`<a class="button" href="/jobs/new?retry=${id}">Retry failed entries</a>`}
      </div>
      ${state !== 'running' && problemBox(warnings)}
      ${facts([
        ['Operator', html`<bdi>${job.operator}</bdi>`],
        ['Started', moment(new Date(job.startedAt))],
        ['Ended', endedAt !== null && moment(new Date(endedAt))],
      ])}
      ${
        failures.length > 0 &&
        table(
          'Failed',
          ['Entry', 'Reason'],
          failures.map(({ item, reason }) => [itemLink(action, item, names.get(item)), reason]),
        )
      }
    `,
  };
}

export function titleOf({ action }: Job): string {
  return isAction(action) ? ACTIONS[action].title : action;
}

export function stateTag({ state }: Job): Html {
  const isBad = state === 'interrupted' || state === 'refused';
  return html`<span class="tag ${isBad && 'bad'}">${STATES[state]}</span>`;
}

function itemLink(action: ActionName, item: string, name: string | undefined): Fragment {
  const path =
    action === 'revoke-grants' ? `/grants?${item}` : `${ACTIONS[action].section}/${encodeURIComponent(item)}`;
  return html`<a href="${path}">${name ?? html`<code>${item}</code>`}</a>
    ${name !== undefined && action !== 'revoke-grants' && html`<code>${item}</code>`}`;
}

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
