import { MAX_COUNT } from '#platform/postgres/list-page.js';
import { RefusedRequestError } from '#platform/http/failed-request.js';
import type { Form } from '#pages/form.js';
import { FILTERS, listPath, type ListQuery } from '../ui/list.page.js';
import { phrase } from '#pages/format.js';
import { type ActionName, ACTIONS, isAction, type JobActions } from './job-actions.js';
import type { Job } from './job.store.js';

/** Permits the selection of all entries of a list page. */
const MAX_CHECKED = 200;

/** Entries of a job. */
export interface Selection {
  readonly action: ActionName;
  readonly items: readonly string[];
  /** Filter whose matches are selected; null if the operator checked each entry. */
  readonly all: ListQuery | null;
  /** Path of the page on which the operator made the selection, with its filter and position. */
  readonly back: string;
  /** Fields that select the same entries again. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** Reason why the selection cannot become a job. */
  readonly problem: string | null;
}

/**
 * Reads a selection of checked entries, or of all entries that match a filter now.
 * @param failed job whose failed entries are selected instead
 */
export async function selectionOf(
  form: Form,
  actions: JobActions,
  failed: (Job & { readonly action: ActionName }) | null,
): Promise<Selection> {
  if (failed) return failedEntries(failed);
  const action = form.text('action');
  if (!isAction(action)) throw new RefusedRequestError(400, 'the action is unknown');
  const [filter, position] = [form.filled(...FILTERS), form.filled('cursor')];
  const all = form.has('all') && action !== 'revoke-grants' ? filter : null;
  const items =
    all !== null && action !== 'revoke-grants'
      ? await actions.matching(action, all)
      : [...new Set(form.getAll('id'))];
  const max = all === null ? MAX_CHECKED : MAX_COUNT;
  return {
    action,
    items,
    all,
    back: listPath(ACTIONS[action].section, { ...filter, ...position }),
    fields: [
      ['action', action],
      ...Object.entries({ ...filter, ...position }),
      ...(all === null ? items.map((item) => ['id', item] as const) : [['all', '1'] as const]),
    ],
    problem: problemOf(items.length, max),
  };
}

function failedEntries({ id, action, failures }: Job & { readonly action: ActionName }): Selection {
  const items = [...new Set(failures.map(({ item }) => item))];
  const problem = problemOf(items.length, MAX_COUNT);
  return { action, items, all: null, back: `/jobs/${id}`, fields: [['retry', id]], problem };
}

function problemOf(count: number, max: number): string | null {
  if (count === 0) return 'Nothing is selected.';
  if (count <= max) return null;
  return phrase('More than {max, number} entries are selected. Narrow the search.', { max });
}
