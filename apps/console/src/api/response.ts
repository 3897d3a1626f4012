import type { Change } from '#operations/audit-trail.js';
import type { ListPage } from '#platform/postgres/list-page.js';
import { entityTagOf } from '#oauth/entity-tag.js';
import { queryOf } from '#pages/form.js';
import { etagOf } from './conditions.js';
import { API, type OperationRules } from './operation-rules.js';

/** Response with its own headers, or with a body that is not the result of a change. */
export class ApiResponse {
  constructor(
    readonly body?: object | Buffer,
    readonly headers: Readonly<Record<string, string>> = {},
    readonly warnings: readonly string[] = [],
    /** Absent for the status that the operation always has after a success. */
    readonly status?: number,
  ) {}
}

/** @param version of the resource, or of the application that the resource belongs to */
export function versionedBy(version: number, body: object): ApiResponse {
  return new ApiResponse(body, { ETag: etagOf(version, JSON.stringify(body)) });
}

/**
 * Returns the response to the value of a handler: an array for a whole list, a `ListPage` for a page, a `Change` for a
 * change, and otherwise the resource. A resource with a version has it in its ETag.
 * @param url of the request
 */
export async function responseTo(value: object, rules: OperationRules, url: string): Promise<ApiResponse> {
  if (value instanceof ApiResponse) return value;
  if (rules.isWholeList) return new ApiResponse({ items: value, next: null, previous: null });
  if (rules.isPage) return listed(value as ListPage<object>, url);
  if (!('announced' in value)) return resource(value);
  const { result, announced } = value as Change<object>;
  const warnings = await announced;
  if (!rules.returns) return new ApiResponse(undefined, {}, warnings);
  return new ApiResponse(result, rules.hasVersion ? resource(result).headers : {}, warnings);
}

function resource(record: object): ApiResponse {
  if (record instanceof ApiResponse) return record;
  const { version } = record as { readonly version?: number };
  return version === undefined ? new ApiResponse(record) : versionedBy(version, record);
}

/** Repeats `next` and `previous` in a Link header (RFC 8288). */
function listed(
  { items, next, previous, warnings }: ListPage<object> & { readonly warnings?: readonly string[] },
  url: string,
): ApiResponse {
  const [path = ''] = url.split('?', 1);
  const link = (cursor: string | null, relation: 'next' | 'prev'): string[] => {
    if (cursor === null) return [];
    const query = queryOf(url);
    query.set('cursor', cursor);
    return [`<${path}?${query.toString()}>; rel="${relation}"`];
  };
  const links = [...link(next, 'next'), ...link(previous, 'prev')].join(', ');
  return new ApiResponse({ items, next, previous }, links === '' ? {} : { Link: links }, warnings);
}

/** @param read reads the new resource, which the response contains together with the result */
export async function created<Result extends object>(
  change: Promise<Change<Result>>,
  pathOf: (result: Result) => string,
  read: (result: Result) => Promise<object>,
): Promise<ApiResponse> {
  const { result, announced } = await change;
  // The result may contain a new secret, which a failure to read must not lose.
  const found = await read(result).then(resource, () => null);
  const warnings = await announced;
  const location = { Location: `${API}/${pathOf(result)}` };
  if (found === null)
    return new ApiResponse(result, location, [
      ...warnings,
      'the new resource could not be read: read it at Location',
    ]);
  const { body, headers } = found;
  const etag = { ETag: `"${entityTagOf(JSON.stringify(body))}"`, ...headers };
  return new ApiResponse({ ...result, ...(body as object) }, { ...etag, ...location }, warnings);
}
