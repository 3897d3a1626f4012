import { OutdatedVersionError } from '#platform/postgres/outdated-version.error.js';
import { problem, type Problems } from '#platform/validation/problem.js';
import { refused } from './administration.error.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    /** `record` is absent for a resource of the HTTP API. */
    version_outdated: { readonly record?: undefined | 'application' | 'user' | 'grant' | 'account' };
  }
}

/** Optional condition of a change (RFC 9110 13.1.1, `If-Match`), which the store checks together with the change. */
export interface Expected {
  readonly version?: number | undefined;
}

/** @throws AdministrationError of the kind `outdated` */
export function unlessOutdated<T>(
  record: Problems['version_outdated']['record'],
  change: Promise<T>,
): Promise<T> {
  return change.catch((error: unknown) => {
    if (!(error instanceof OutdatedVersionError)) throw error;
    throw refused('outdated', problem('version_outdated', [], { record }));
  });
}
