import { Injectable } from '@nestjs/common';
import { type ClientChanged, SUBJECTS } from '#introspection/contract.js';
import { warn } from '../command-line/output.js';
import { withNats } from '../settings/nats.connection.js';

/** Tells running services that what they cached of a client or resource server, "unknown" included, is stale. */
@Injectable()
export class ClientChangedPublisher {
  /** The change itself is written by now, so that a failure is a warning and no more. */
  async publish(natsUrl: string, clientId: string): Promise<void> {
    try {
      await withNats(natsUrl, (nats) => {
        nats.publish(SUBJECTS.clientChanged, JSON.stringify({ client_id: clientId } satisfies ClientChanged));
        return nats.flush();
      });
    } catch {
      warn('NATS (NATS_URL) does not answer: running services may take 30 s to notice the change');
    }
  }
}
