import type { ADMIN_SCOPES } from '#oauth/client-credentials.js';
import type { Schema } from '#openapi/schema.js';

export const API = '/admin/v1';

type AdminScope = (typeof ADMIN_SCOPES)[number];

export interface OperationRules {
  readonly summary: string;
  readonly description?: string;
  /** Scope that a change requires, in place of `admin:write`. */
  readonly scope?: AdminScope;
  readonly query?: Readonly<Record<string, string>>;
  /** Query parameters that are `true` or `false`. */
  readonly flags?: readonly string[];
  /** Query parameters that may be repeated. */
  readonly lists?: readonly string[];
  readonly input?: Schema;
  /** Media types of the body, in place of JSON. */
  readonly consumes?: readonly string[];
  readonly returns?: Schema;
  /** Media types of the response, in place of JSON. */
  readonly produces?: readonly string[];
  /** If true, `returns` describes one item of a list: of one of its pages, or of the whole list. */
  readonly isPage?: boolean;
  readonly isWholeList?: boolean;
  /** True if a response to a change has an ETag. A read always has one. */
  readonly hasVersion?: boolean;
  /** Requires If-Match (RFC 9110 13.1.1, RFC 6585 3). The default is true for PATCH, PUT and DELETE. */
  readonly needsVersion?: boolean;
  /** Accepts `If-None-Match: *` in place of If-Match, for a resource that does not exist yet (RFC 9110 13.1.2). */
  readonly mayBeAbsent?: boolean;
  /** Requires an Idempotency-Key, because a second execution would create a second record. */
  readonly creates?: boolean;
}

export const RULES = Symbol('rules of an operation');

export function rulesOf(handler: object): OperationRules {
  return Reflect.getMetadata(RULES, handler) as OperationRules;
}

const JSON_TYPE = 'application/json';
const MERGE_PATCH = 'application/merge-patch+json';

export function mediaTypesOf(method: string, { consumes }: OperationRules): readonly string[] {
  return consumes ?? (method.toLowerCase() === 'patch' ? [JSON_TYPE, MERGE_PATCH] : [JSON_TYPE]);
}

/** Returns the query parameters with their descriptions. */
export function parametersOf({
  query = {},
  isPage = false,
}: OperationRules): Readonly<Record<string, string>> {
  const page = {
    limit: 'Number of items: at most 1000, and 500 events.',
    cursor: '`next` of the previous page.',
  };
  return { ...query, ...(isPage && page) };
}
