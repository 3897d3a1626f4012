import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  type ApplyRevocationsReply,
  type ApplyRevocationsRequest,
  SUBJECTS,
} from '#introspection/contract.js';
import { withNats } from '../connections/nats.connection.js';

/** Long enough for a client that every user has allowed. */
const TIMEOUT_MS = 60_000;

type Nats = Parameters<Parameters<typeof withNats>[1]>[0];

/** Asks the token app to apply the revocations that PostgreSQL records for a client or a user. */
@Injectable()
export class RevocationApplier {
  /**
   * Resolves once none of these tokens is accepted any more and, for a user, every cached profile is evicted.
   *
   * @param done what has already happened, for the error message: "the client is deleted"
   * @throws Error that tells the operator how to continue
   */
  async apply(natsUrl: string, whose: ApplyRevocationsRequest, done: string): Promise<void> {
    try {
      await withNats(natsUrl, (nats) => this.ask(nats, whose), TIMEOUT_MS);
    } catch (cause) {
      throw new Error(
        `${done}, but the token service did not answer over NATS (NATS_URL): ` +
          'tokens may work until it is back, and stop within seconds after that; run this command again',
        { cause },
      );
    }
  }

  private async ask(nats: Nats, whose: ApplyRevocationsRequest): Promise<void> {
    // Before the request, so that caches are evicted even if no token app answers.
    if ('user_id' in whose) nats.publish(SUBJECTS.userChanged, JSON.stringify(whose));
    const packet = JSON.stringify({ pattern: SUBJECTS.applyRevocations, data: whose, id: randomUUID() });
    const message = await nats.request(SUBJECTS.applyRevocations, packet, { timeout: TIMEOUT_MS });
    const reply = message.json<{ response?: ApplyRevocationsReply; err?: unknown }>();
    if (reply.response === undefined) throw new Error('it failed on the request', { cause: reply.err });
  }
}
