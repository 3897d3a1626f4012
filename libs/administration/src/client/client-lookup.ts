import type { ClientStore } from '#database/client/client.store.js';
import { AdministrationError, refusal } from '../administration.error.js';
import { quoted } from '../text.js';

/** Returns an unknown name unchanged: it may be the id of a deleted client. @throws AdministrationError if the name is ambiguous */
export async function identifyClient(clients: ClientStore, idOrName: string): Promise<string> {
  const [clientId = idOrName, ...others] = await clients.identify(idOrName);
  if (others.length === 0) return clientId;
  const ids = [clientId, ...others];
  const message = `${ids.length} applications are called ${quoted(idOrName)}: give the client_id of one of them`;
  throw new AdministrationError('conflict', [
    { id: 'client_ambiguous', message },
    ...ids.map((id) => ({ id: 'client_ambiguous', message: id })),
  ]);
}

export function unknownClient(clientId: string): AdministrationError {
  return refusal('unknown', 'client_unknown', `there is no client ${quoted(clientId)}`, {
    text: 'See',
    command: ['client', 'list'],
  });
}
