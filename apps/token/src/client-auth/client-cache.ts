import { Injectable } from '@nestjs/common';
import { ClientStore } from '#database/client/client.store.js';
import type { ClientWithSecrets } from '#database/client/client.js';
import { tagOf } from '#introspection/contract.js';
import { NatsConnection } from '#platform/nats/nats.connection.js';
import { type Lookup, TrustedCache } from '#platform/nats/trusted-cache.js';

const KEPT_MS = 30_000;
const KEPT_CLIENTS = 10_000;
const CLIENT_ID = /^[!-~]{1,255}$/;

/** Clients as token requests need them: from memory, until the operator changes one. */
@Injectable()
export class ClientCache {
  private readonly clients: TrustedCache<ClientWithSecrets | null>;

  constructor(store: ClientStore, connection: NatsConnection) {
    this.clients = new TrustedCache<ClientWithSecrets | null>(connection, {
      max: KEPT_CLIENTS,
      fetch: (clientId) => store.find(clientId),
      tags: (_client, clientId) => [tagOf.client(clientId)],
      ttl: () => KEPT_MS,
    });
  }

  /** The client, or null when it is unknown. */
  async find(clientId: string): Promise<ClientWithSecrets | null> {
    return CLIENT_ID.test(clientId) ? this.clients.get(clientId) : null;
  }

  /** Tells how each look into the cache goes from now on, to be counted. */
  observe(observer: (lookup: Lookup) => void): void {
    this.clients.observe(observer);
  }
}
