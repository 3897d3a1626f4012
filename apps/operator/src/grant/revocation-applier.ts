import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  type ApplyRevocationsReply,
  type ApplyRevocationsRequest,
  SUBJECTS,
} from '#introspection/contract.js';
import { withNats } from '../settings/nats.connection.js';

/** Long enough for a client that everybody uses. */
const TIMEOUT_MS = 60_000;

type Nats = Parameters<Parameters<typeof withNats>[1]>[0];

/** Makes the token app end every token whose grant is revoked in PostgreSQL, of a client or of a user. */
@Injectable()
export class RevocationApplier {
  /**
   * Resolves once none of these tokens is good any more. What services cached of a user is stale from then on, too.
   *
   * @param done what holds already, as "the client is deleted"
   * @throws Error that says what to do
   */
  async apply(natsUrl: string, whose: ApplyRevocationsRequest, done: string): Promise<void> {
    try {
      await withNats(natsUrl, (nats) => this.ask(nats, whose), TIMEOUT_MS);
    } catch (cause) {
      throw new Error(
        `${done}, but the token service did not answer over NATS (NATS_URL): ` +
          'tokens may work until it runs, and end within seconds then; run this command again',
        { cause },
      );
    }
  }

  private async ask(nats: Nats, whose: ApplyRevocationsRequest): Promise<void> {
    // Before the request: where no token app answers, nobody trusts a cache for longer than has to be.
    if ('user_id' in whose) nats.publish(SUBJECTS.userChanged, JSON.stringify(whose));
    const packet = JSON.stringify({ pattern: SUBJECTS.applyRevocations, data: whose, id: randomUUID() });
    const message = await nats.request(SUBJECTS.applyRevocations, packet, { timeout: TIMEOUT_MS });
    const reply = message.json<{ response?: ApplyRevocationsReply; err?: unknown }>();
    if (reply.response === undefined) throw new Error('it failed on the request', { cause: reply.err });
  }
}
