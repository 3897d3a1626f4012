import { Injectable } from '@nestjs/common';
import { verifyClientSecret } from '#oauth/client-credentials.js';
import { ResourceServerStore } from '#database/resource-server/resource-server.store.js';
import type { ResourceServer } from '#database/resource-server/resource-server.entity.js';
import { tagOf } from '#introspection/contract.js';
import { NatsConnection } from '#platform/nats/nats.connection.js';
import { TrustedCache } from '#platform/nats/trusted-cache.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { BASIC_CHALLENGE, type ClientCredentials } from './client-credentials.js';

const KEPT_MS = 30_000;
const KEPT_SERVERS = 1_000;
const ID = /^rs_[!-~]{1,250}$/;

/** Authenticates those who may ask about tokens: resource servers that the operator registered (RFC 7662 2.1). */
@Injectable()
export class ResourceServerAuthenticator {
  private readonly servers: TrustedCache<ResourceServer | null>;

  constructor(store: ResourceServerStore, connection: NatsConnection) {
    this.servers = new TrustedCache<ResourceServer | null>(connection, {
      max: KEPT_SERVERS,
      fetch: (id) => store.find(id),
      tags: (_server, id) => [tagOf.client(id)],
      ttl: () => KEPT_MS,
    });
  }

  /** @throws OAuthError invalid_client; clients of the authorization endpoints are unknown here. */
  async authenticate({ clientId, clientSecret, method }: ClientCredentials): Promise<ResourceServer> {
    const server = ID.test(clientId) ? await this.servers.get(clientId) : null;
    const hashes = server?.secrets.map(({ hash }) => hash) ?? [];
    if (server && clientSecret !== undefined && verifyClientSecret(clientSecret, hashes)) return server;
    throw OAuthError.invalidClient('only a registered resource server with its secret may ask about tokens', {
      detail: {
        check: server ? 'resource server secret matches' : 'resource server is registered',
        client_id: clientId,
      },
      headers: method === 'basic' ? BASIC_CHALLENGE : {},
    });
  }
}
