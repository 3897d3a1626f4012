import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  type ClientRevocationReply,
  type ClientRevocationRequest,
  SUBJECTS,
} from '#introspection/contract.js';
import { withNats } from '../settings/nats.connection.js';

/** Long enough for a client that everybody uses. */
const TIMEOUT_MS = 60_000;

/** Makes the token app end every token of a client whose grants are revoked in PostgreSQL. */
@Injectable()
export class ClientRevoker {
  /** Resolves once no token of the client is good any more. @throws Error that says what to do */
  async revoke(natsUrl: string, clientId: string): Promise<void> {
    try {
      await withNats(natsUrl, (nats) => this.ask(nats, clientId), TIMEOUT_MS);
    } catch (cause) {
      throw new Error(
        'the client is deleted, but the token service did not answer over NATS (NATS_URL): ' +
          'access tokens may work until they expire; run this command again when it runs',
        { cause },
      );
    }
  }

  private async ask(nats: Parameters<Parameters<typeof withNats>[1]>[0], clientId: string): Promise<void> {
    const data: ClientRevocationRequest = { client_id: clientId };
    const packet = JSON.stringify({ pattern: SUBJECTS.revokeClient, data, id: randomUUID() });
    const message = await nats.request(SUBJECTS.revokeClient, packet, { timeout: TIMEOUT_MS });
    const reply = message.json<{ response?: ClientRevocationReply; err?: unknown }>();
    if (reply.response === undefined) throw new Error('it failed on the request', { cause: reply.err });
  }
}
