import { type Problem, problem, type Problems } from './problem.js';

/**
 * - `invalid`: the input breaks a rule
 * - `unknown`: the input names something that does not exist
 * - `conflict`: the stored state does not permit the change, or several records match the given name
 * - `outdated`: another change has replaced the expected version
 * - `unconfirmed`: the operation requires the confirmation that the problem names
 * - `unsafe`: the change would log users out, its effect is unknown, or the channel may not make it
 * - `forbidden`: the operator or API client does not have the right to make the change
 * - `incomplete`: only a part succeeded, for example because the running services do not answer: repeat the operation
 * - `unavailable`: a service does not answer or is busy, and nothing was changed
 */
export type RefusalKind =
  | 'invalid'
  | 'unknown'
  | 'conflict'
  | 'outdated'
  | 'unconfirmed'
  | 'unsafe'
  | 'forbidden'
  | 'incomplete'
  | 'unavailable';

/** HTTP status of a page or API response to a refusal. */
export const REFUSAL_STATUS: Readonly<Record<RefusalKind, 400 | 403 | 404 | 409 | 503>> = {
  invalid: 400,
  unknown: 404,
  conflict: 409,
  outdated: 409,
  unconfirmed: 409,
  unsafe: 409,
  forbidden: 403,
  incomplete: 503,
  unavailable: 503,
};

/** Rejects an operation with a list of all problems. Nothing was changed, unless the kind is `incomplete`. */
export class AdministrationError extends Error {
  constructor(
    readonly kind: RefusalKind,
    readonly problems: readonly Problem[],
    options?: ErrorOptions,
  ) {
    super(problems.map(({ id }) => id).join('\n'), options);
    this.name = 'AdministrationError';
  }

  /** Warnings about the completed part. */
  warnings: readonly string[] = [];
}

/** Returns false if the database was unavailable, because it may have stored the change without responding. */
export function changedNothing(error: unknown): boolean {
  return error instanceof AdministrationError && error.kind !== 'incomplete' && error.kind !== 'unavailable';
}

export function refused(kind: RefusalKind, problem: Problem): AdministrationError {
  return new AdministrationError(kind, [problem]);
}

export function refuseInvalid(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new AdministrationError('invalid', problems);
}

declare module './problem.js' {
  interface Problems {
    /** `record` is absent for a resource of the HTTP API. */
    version_outdated: { readonly record?: undefined | 'application' | 'user' | 'grant' | 'account' };
  }
}

/** Optional condition of a change (RFC 9110 13.1.1, `If-Match`), which the store checks together with the change. */
export interface Expected {
  readonly version?: number | undefined;
}

export function outdated(record: Problems['version_outdated']['record']): AdministrationError {
  return refused('outdated', problem('version_outdated', [], { record }));
}

/** @param expected undefined accepts every version @throws AdministrationError of the kind `outdated` */
export function checkVersion(
  { version }: { readonly version: number },
  expected: number | undefined,
  record: Problems['version_outdated']['record'],
): void {
  if (expected !== undefined && version !== expected) throw outdated(record);
}
