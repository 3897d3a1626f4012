import type { Change, Page } from '#administration/operation.js';
import { queryOf } from '../ui/form.js';
import { API } from './operation-rules.js';

/** Response of an operation. Its status depends on the operation only. */
export interface Answer {
  readonly headers: Readonly<Record<string, string>>;
  /** Absent for 204. */
  readonly body?: object;
  /** Warnings about a stored change or an incomplete list. */
  readonly warnings?: readonly string[];
}

/** @param version of a record that has one */
export function found(body: object, version?: number): Answer {
  return { headers: version === undefined ? {} : { ETag: `"${version}"` }, body };
}

/** RFC 8288: the Link header repeats `next`. @param url of the request */
export function listed(
  url: string,
  { items, next, warnings = [] }: Page<object, string | number> & Pick<Answer, 'warnings'>,
): Answer {
  if (next === null) return { ...found({ items, next }), warnings };
  const query = queryOf(url);
  query.set('cursor', String(next));
  const [path = ''] = url.split('?', 1);
  const headers = { Link: `<${path}?${query.toString()}>; rel="next"` };
  return { headers, body: { items, next: String(next) }, warnings };
}

/** Waits until a change is announced. */
export async function changed(change: Promise<Change<object>>): Promise<Answer> {
  const { result, announced } = await change;
  return { headers: {}, body: result, warnings: await announced };
}

/** @param pathOf returns the path of the new resource, without a prefix */
export async function created<Result extends object>(
  change: Promise<Change<Result>>,
  pathOf: (result: Result) => string,
): Promise<Answer> {
  const { result, announced } = await change;
  return { headers: { Location: `${API}/${pathOf(result)}` }, body: result, warnings: await announced };
}

export async function deleted(change: Promise<Change<object>>): Promise<Answer> {
  const { announced } = await change;
  return { headers: {}, warnings: await announced };
}
