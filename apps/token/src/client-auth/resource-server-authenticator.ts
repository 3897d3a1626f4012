import { Injectable } from '@nestjs/common';
import { ResourceServerStore } from '#clients/resource-server/resource-server.store.js';
import type { ResourceServerWithHash } from '#clients/resource-server/resource-server.entity.js';
import { tagOf } from '#messaging/contract.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { NatsConnection } from '#messaging/nats.connection.js';
import { hasKeys, isClientId, matchClientSecret } from '#oauth/oauth-client.js';
import { InvalidatedCache } from '#messaging/invalidated-cache.js';
import { ClientAssertionService } from './client-assertion.service.js';
import {
  type ClientRequest,
  invalidClient,
  needsAssertion,
  readCredentials,
} from './client-authenticator.js';
import type { ClientDto } from './client-credentials.dto.js';

const CACHED_MS = 30_000;
const CACHED_SERVERS = 1_000;

/** Authenticates registered resource servers, because only they may introspect tokens (RFC 7662 2.1). */
@Injectable()
export class ResourceServerAuthenticator {
  private readonly servers: InvalidatedCache<ResourceServerWithHash | null>;

  constructor(
    store: ResourceServerStore,
    connection: NatsConnection,
    private readonly assertions: ClientAssertionService,
  ) {
    this.servers = new InvalidatedCache<ResourceServerWithHash | null>(connection.broadcasts, {
      max: CACHED_SERVERS,
      fetch: (id) => store.findWithHash(id),
      tags: (_server, id) => [tagOf.client(id)],
      ttl: () => CACHED_MS,
    });
  }

  /** @throws OAuthError; invalid_client even for valid credentials of a client that is not a resource server */
  async authenticate({ headers, raw }: ClientRequest, body: ClientDto): Promise<ResourceServerWithHash> {
    const credentials = readCredentials(headers.authorization, body);
    const { clientId: id, clientSecret, assertion } = credentials;
    const server = id.startsWith('rs_') && isClientId(id) ? await this.servers.get(id) : null;
    if (assertion) {
      const verified = await this.assertions.verify(assertion, server, raw.url);
      addLogContext(raw, { resource_server: verified.id });
      return verified;
    }
    if (server && hasKeys(server)) throw needsAssertion(credentials);
    if (server && clientSecret !== undefined && matchClientSecret(clientSecret, server.secrets) !== null) {
      addLogContext(raw, { resource_server: server.id });
      return server;
    }
    throw invalidClient(credentials, server ? 'resource_server_secret_mismatch' : 'resource_server_unknown');
  }
}
