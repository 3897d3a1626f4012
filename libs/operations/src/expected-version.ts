import { OutdatedVersionError } from '#platform/postgres/outdated-version.error.js';
import { refusal } from './administration.error.js';

/** Optional condition of a change (RFC 9110 13.1.1, `If-Match`), which the store checks together with the change. */
export interface Expected {
  readonly version?: number | undefined;
}

/** @param record like `the application` @throws AdministrationError of the kind `outdated` */
export function unlessOutdated<T>(record: string, change: Promise<T>): Promise<T> {
  return change.catch((error: unknown) => {
    if (!(error instanceof OutdatedVersionError)) throw error;
    throw refusal('outdated', 'version_outdated', `${record} has changed since it was read: read it again`);
  });
}
