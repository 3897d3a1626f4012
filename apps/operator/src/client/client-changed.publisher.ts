import { Injectable } from '@nestjs/common';
import { connect } from '@nats-io/transport-node';
import { type ClientChanged, SUBJECTS } from '#introspection/contract.js';
import { natsOptions } from '#introspection/nats-options.js';
import { warn } from '../command-line/output.js';

const TIMEOUT_MS = 2_000;

/** Tells running services that what they cached of a client, "unknown" included, is stale. */
@Injectable()
export class ClientChangedPublisher {
  /** The change itself is written by now, so that a failure is a warning and no more. */
  async publish(natsUrl: string, clientId: string): Promise<void> {
    try {
      const nats = await connect({
        ...natsOptions(natsUrl, 'operator'),
        timeout: TIMEOUT_MS,
        waitOnFirstConnect: false,
        reconnect: false,
      });
      try {
        nats.publish(SUBJECTS.clientChanged, JSON.stringify({ client_id: clientId } satisfies ClientChanged));
        await answered(nats.flush());
      } finally {
        await nats.close();
      }
    } catch {
      warn('NATS (NATS_URL) does not answer: running services may take 30 s to notice the change');
    }
  }
}

/** A server that took the connection and then hangs must not hang the command. */
async function answered(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer')), TIMEOUT_MS);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
