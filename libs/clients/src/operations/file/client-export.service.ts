import { Injectable } from '@nestjs/common';
import { type TransferredClient, ClientTransferStore } from '../../client-transfer.store.js';
import { ClientStore } from '../../client.store.js';
import { unknownClient } from '../../client.js';
import { identifyClient } from '../client-lookup.js';
import { clientFile, entryOf, VERSION } from './client-file.js';

export interface ExportedClients {
  readonly content: { readonly version: number; readonly clients: readonly object[] };
  /** YAML. The same clients always give the same text. */
  readonly text: string;
}

@Injectable()
export class ClientExportService {
  constructor(
    private readonly clients: ClientStore,
    private readonly transfers: ClientTransferStore,
  ) {}

  /**
   * @param comment introduces the file
   * @param ids client_ids or unique names; empty for all clients
   */
  async export(comment: string, ids: readonly string[] = []): Promise<ExportedClients> {
    const clients = ids.length === 0 ? await this.transfers.read() : await this.named(ids);
    return {
      content: { version: VERSION, clients: clients.map(entryOf) },
      text: clientFile(clients, comment),
    };
  }

  private async named(ids: readonly string[]): Promise<TransferredClient[]> {
    const clientIds = await Promise.all(ids.map((id) => identifyClient(this.clients, id)));
    const clients = await this.transfers.read([...new Set(clientIds)]);
    const unknown = clientIds.find((id) => !clients.some(({ clientId }) => clientId === id));
    if (unknown !== undefined) throw unknownClient(unknown);
    return clients;
  }
}
