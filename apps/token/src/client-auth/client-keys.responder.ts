import { Controller } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { ClientStore } from '#clients/client.store.js';
import { type ClientKeysReply, type ClientKeysRequest, KEY_FAILURES, SUBJECTS } from '#messaging/contract.js';
import { OutsideFetchError } from '#platform/http/outside-http.js';
import { RemoteClientKeysService } from './remote-client-keys.service.js';

/** Keeps a reply below the `max_payload` of NATS. */
const SHOWN_KEYS = 20;

/**
 * Returns the fetched keys of a client, for its owners. The requester cannot choose the URL, and the cache limits the
 * fetches.
 */
@Controller()
export class ClientKeysResponder {
  constructor(
    private readonly clients: ClientStore,
    private readonly remote: RemoteClientKeysService,
  ) {}

  /** Reads the client from PostgreSQL, because the owner may just have changed its URL. */
  @MessagePattern(SUBJECTS.clientKeys)
  async keys(@Payload() { client_id: clientId }: ClientKeysRequest): Promise<ClientKeysReply> {
    const { jwksUri = null } = (await this.clients.find(clientId)) ?? {};
    if (jwksUri === null) return { fetched: null };
    const { attemptedAt, failure, keys } = await this.remote.state(jwksUri);
    return {
      fetched: {
        at: new Date(attemptedAt).toISOString(),
        failure: failure && failureOf(failure),
        count: keys.keys.length,
        keys: keys.keys.slice(0, SHOWN_KEYS),
      },
    };
  }
}

/** Without the message of the error, which may contain addresses. */
function failureOf(error: Error): (typeof KEY_FAILURES)[number] {
  const reason = error instanceof OutsideFetchError ? error.reason : 'invalid';
  return KEY_FAILURES.find((known) => known === reason) ?? 'invalid';
}
