import {
  administrationSettings,
  type AdministrationSettings,
  type AdministrationVariables,
} from '#operations/administration.options.js';
import { readSettings } from '../settings/settings.js';
import type { Administration } from './open-administration.js';

/** Replaced in tests that keep administrations open for many commands. */
export const administrations = {
  open: async (settings: AdministrationSettings): Promise<Administration> => {
    // Imported on demand, because help and unknown options do not need it.
    const { openAdministration } = await import('./open-administration.js');
    return openAdministration(settings);
  },
};

/** PostgreSQL is connected on use, so that wrong input is reported without a database. */
export async function withAdministration<T>(
  shape: new () => Partial<AdministrationVariables>,
  work: (administration: Administration) => Promise<T>,
): Promise<T> {
  // The cast is safe: a command uses only operations whose variables are in its shape. A test runs every command.
  const variables = readSettings(shape) as AdministrationVariables;
  const administration = await administrations.open(administrationSettings(variables));
  try {
    return await work(administration);
  } finally {
    await administration.close();
  }
}
