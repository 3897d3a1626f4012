import type { ClientStore } from '../client.store.js';
import { DependencyUnavailableError } from '#platform/errors.js';
import { AdministrationError } from '#platform/validation/administration.error.js';
import { warningText } from '#operations/failure-text.js';
import { problem } from '#platform/validation/problem.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    client_ambiguous: { readonly given: string; readonly count: number } | { readonly candidate: string };
    client_names_unknown: null;
  }
}

/**
 * Returns an unknown name unchanged, because the name may be the id of a deleted client.
 * @throws AdministrationError if the name is ambiguous
 */
export async function identifyClient(clients: ClientStore, idOrName: string): Promise<string> {
  const [clientId = idOrName, ...others] = await clients.identify(idOrName);
  if (others.length === 0) return clientId;
  const ids = [clientId, ...others];
  throw new AdministrationError('conflict', [
    problem('client_ambiguous', [], { given: idOrName, count: ids.length }),
    ...ids.map((candidate) => problem('client_ambiguous', [], { candidate })),
  ]);
}

const GENERATED_ID = /^sc_[a-z2-7]{24}$/;

/**
 * Always treats a generated id as an id. Otherwise an application with such a name would hide the events of a deleted
 * client.
 */
export async function clientIdInTrail(
  clients: ClientStore,
  idOrName: string,
): Promise<{ readonly clientId: string; readonly warnings: readonly string[] }> {
  if (GENERATED_ID.test(idOrName)) return { clientId: idOrName, warnings: [] };
  try {
    return { clientId: await identifyClient(clients, idOrName), warnings: [] };
  } catch (error) {
    if (!(error instanceof DependencyUnavailableError)) throw error;
    return { clientId: idOrName, warnings: [warningText(problem('client_names_unknown', []))] };
  }
}
