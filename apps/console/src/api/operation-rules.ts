import type { Schema } from '#openapi/schema.js';

export const API = '/admin/v1';

/** An operation of the API, from which the interceptor and the OpenAPI document are derived. */
export interface OperationRules {
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** JSON object in the body. */
  readonly input?: Schema;
  /** Body of the response; absent for 204. */
  readonly returns?: Schema;
  /** `returns` describes one item of a page. */
  readonly isPage?: boolean;
  /** The ETag of the response is the version. */
  readonly hasVersion?: boolean;
  /** Requires If-Match (RFC 9110 13.1.1, RFC 6585 3). */
  readonly needsVersion?: boolean;
  /** Must not be executed twice: requires an Idempotency-Key. */
  readonly creates?: boolean;
}

export const RULES = Symbol('rules of an operation');

export function rulesOf(handler: object): OperationRules {
  return Reflect.getMetadata(RULES, handler) as OperationRules;
}
