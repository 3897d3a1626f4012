import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { ClientStore } from '#database/client/client.store.js';
import type { Client, ClientWithSecrets } from '#database/client/client.js';
import { tagOf } from '#introspection/contract.js';
import { isClientId } from '#oauth/client.js';
import { matchClientSecret } from '#oauth/client-credentials.js';
import { addLogContext } from '#platform/logging/log-context.js';
import { NatsConnection } from '#platform/nats/nats.connection.js';
import { TrustedCache } from '#platform/nats/trusted-cache.js';
import { countLookups, Metrics } from '#platform/telemetry/metrics.js';
import { UsageRecorder } from '../usage/usage-recorder.service.js';
import { type ClientDto, invalidClient, readCredentials } from './client-credentials.js';

/** The parts of a request that authentication reads. */
export interface ClientRequest {
  readonly headers: { readonly authorization?: string };
  readonly raw: IncomingMessage;
}

const CACHED_MS = 30_000;
const CACHED_CLIENTS = 10_000;

/** Authenticates clients at the token endpoints (RFC 6749 3.2.1). Clients are cached until the operator changes them. */
@Injectable()
export class ClientAuthenticator {
  private readonly clients: TrustedCache<ClientWithSecrets | null>;

  constructor(
    store: ClientStore,
    connection: NatsConnection,
    metrics: Metrics,
    private readonly usage: UsageRecorder,
  ) {
    this.clients = new TrustedCache<ClientWithSecrets | null>(connection, {
      max: CACHED_CLIENTS,
      fetch: (clientId) => store.find(clientId),
      tags: (_client, clientId) => [tagOf.client(clientId)],
      ttl: () => CACHED_MS,
    });
    this.clients.observe(countLookups(metrics, 'clients'));
  }

  /**
   * Authenticates the client of a request, and adds its client_id to the log context. A public client has nothing to prove
   * (RFC 6749 2.1).
   *
   * @throws OAuthError invalid_request, or invalid_client: an unknown client and a wrong secret get the same answer
   */
  async authenticate({ headers, raw }: ClientRequest, body: ClientDto): Promise<Client> {
    const credentials = readCredentials(headers.authorization, body);
    const { clientId, clientSecret } = credentials;
    addLogContext(raw, { client_id: clientId });
    const client = isClientId(clientId) ? await this.clients.get(clientId) : null;
    if (!client)
      throw invalidClient(credentials, 'unknown client, or a wrong client_secret', 'client is registered');
    if (client.type === 'public') {
      if (clientSecret === undefined) return client;
      throw invalidClient(
        credentials,
        'this is a public client: it has no client_secret and must not send one',
        'public client sends no secret',
      );
    }
    if (clientSecret === undefined)
      throw invalidClient(credentials, "the parameter 'client_secret' is missing", 'client secret is sent');
    const secretId = matchClientSecret(clientSecret, client.secrets);
    if (secretId === null)
      throw invalidClient(credentials, 'unknown client, or a wrong client_secret', 'client secret matches');
    // Shows the operator when the older of two secrets is no longer used.
    this.usage.recordSecret(secretId);
    return client;
  }
}
