import type { Change } from '#operations/audit-trail.js';
import type { ListPage } from '#platform/postgres/list-page.js';
import { entityTagOf } from '#oauth/entity-tag.js';
import { queryOf } from '#pages/form.js';
import { etagOf } from './conditions.js';
import { API } from './operation-rules.js';

export interface ApiResponse {
  /** Absent for the status that the operation always has after a success. */
  readonly status?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: object | Buffer;
  readonly warnings?: readonly string[];
}

export function result(body: object): ApiResponse {
  return { headers: {}, body };
}

/** @param body of the response to a change, which may have more members than the representation */
export function versioned(record: { readonly version: number }, body: object = record): ApiResponse {
  return { headers: { ETag: etagOf(record.version, JSON.stringify(record)) }, body };
}

/** A list without pages. */
export function wholeList(items: readonly object[]): ApiResponse {
  return result({ items, next: null, previous: null });
}

/** Repeats `next` and `previous` in a Link header (RFC 8288). @param url of the request */
export function listed(
  url: string,
  { items, next, previous, warnings = [] }: ListPage<object> & Pick<ApiResponse, 'warnings'>,
): ApiResponse {
  const [path = ''] = url.split('?', 1);
  const link = (cursor: string | null, relation: 'next' | 'prev'): string[] => {
    if (cursor === null) return [];
    const query = queryOf(url);
    query.set('cursor', cursor);
    return [`<${path}?${query.toString()}>; rel="${relation}"`];
  };
  const links = [...link(next, 'next'), ...link(previous, 'prev')];
  return {
    headers: links.length === 0 ? {} : { Link: links.join(', ') },
    body: { items, next, previous },
    warnings,
  };
}

export async function changed(change: Promise<Change<object>>): Promise<ApiResponse> {
  const { result: body, announced } = await change;
  return { headers: {}, body, warnings: await announced };
}

/** @param read reads the new resource, which the response contains together with the result */
export async function created<Result extends object>(
  change: Promise<Change<Result>>,
  pathOf: (result: Result) => string,
  read: (result: Result) => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const { result: made, announced } = await change;
  // The result may contain a new secret, which a failure to read must not lose.
  const resource = await read(made).catch(() => null);
  const warnings = await announced;
  return {
    headers: {
      ...(resource && { ETag: `"${entityTagOf(JSON.stringify(resource.body))}"`, ...resource.headers }),
      Location: `${API}/${pathOf(made)}`,
    },
    body: { ...made, ...(resource?.body as object | undefined) },
    warnings: resource ? warnings : [...warnings, 'the new resource could not be read: read it at Location'],
  };
}

export async function deleted(change: Promise<Change<object>>): Promise<ApiResponse> {
  const { announced } = await change;
  return { headers: {}, warnings: await announced };
}
