import type { Schema } from '#openapi/schema.js';

export const API = '/admin/v1';

export interface OperationRules {
  readonly summary: string;
  readonly description?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly input?: Schema;
  readonly returns?: Schema;
  /** If true, `returns` describes one item of a page. */
  readonly isPage?: boolean;
  readonly hasVersion?: boolean;
  /** Requires If-Match (RFC 9110 13.1.1, RFC 6585 3). The default is true for PATCH and DELETE. */
  readonly needsVersion?: boolean;
  /** Requires an Idempotency-Key, because a second execution would create a second record. */
  readonly creates?: boolean;
}

export const RULES = Symbol('rules of an operation');

export function rulesOf(handler: object): OperationRules {
  return Reflect.getMetadata(RULES, handler) as OperationRules;
}
