import type { AdministrationSettings } from '#administration/administration.options.js';
import { readSettings } from '../settings/read-settings.js';
import type { Administration } from './open-administration.js';

/** The first operation that needs the settings reads them, and connects to PostgreSQL: wrong input needs neither. */
export async function withAdministration<T>(
  shape: new () => Partial<AdministrationSettings>,
  work: (administration: Administration) => Promise<T>,
): Promise<T> {
  // Loaded on demand: help and unknown options do not need it.
  const { openAdministration } = await import('./open-administration.js');
  let settings: Partial<AdministrationSettings> | undefined;
  const administration = await openAdministration(
    // Commands only use operations whose settings the shape has: a test runs each of them.
    () => (settings ??= readSettings(shape)) as AdministrationSettings,
  );
  try {
    return await work(administration);
  } finally {
    await administration.close();
  }
}
