import type { AdministrationSettings } from '#administration/administration.options.js';
import { readSettings } from '../settings/read-settings.js';
import type { Administration } from './open-administration.js';

/**
 * Reads the settings and connects to PostgreSQL only when an operation needs them, because wrong input needs neither.
 */
export async function withAdministration<T>(
  shape: new () => Partial<AdministrationSettings>,
  work: (administration: Administration) => Promise<T>,
): Promise<T> {
  // Imported on demand, because help and unknown options do not need it.
  const { openAdministration } = await import('./open-administration.js');
  let settings: Partial<AdministrationSettings> | undefined;
  const administration = await openAdministration(
    // A command only uses operations whose settings are in its shape: a test runs every command.
    () => (settings ??= readSettings(shape)) as AdministrationSettings,
  );
  try {
    return await work(administration);
  } finally {
    await administration.close();
  }
}
