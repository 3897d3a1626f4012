import type { DatabaseSettings } from '../settings/settings.js';
import type { Stores } from './stores.js';

/** Long enough for a fail-over, short enough for an operator who waits at a prompt. */
const RETRY_FOR_MS = 2_000;

/** @throws DependencyUnavailableError, and errors of `work` */
export async function withStores<T>(
  { DATABASE_URL, DATABASE_SCHEMA }: DatabaseSettings,
  work: (stores: Stores) => Promise<T>,
): Promise<T> {
  // Loaded on demand: help and wrong input do not need it.
  const { openStores } = await import('./stores.js');
  const stores = await openStores(DATABASE_URL, DATABASE_SCHEMA, RETRY_FOR_MS);
  try {
    return await work(stores);
  } finally {
    await stores.close();
  }
}
