import { connect, type NatsConnection } from '@nats-io/transport-node';
import { type ClientChanged, SUBJECTS } from '#introspection/contract.js';
import { natsOptions } from '#platform/nats/nats.connection.js';
import { warn } from '../command-line/output.js';

const TIMEOUT_MS = 2_000;

/**
 * Connects to NATS for the length of `work`, in one attempt. Rejects if NATS does not answer or `work` takes too long: a
 * server that accepts the connection and then hangs must not hang the command.
 *
 * @param limitMs how long `work` may take, in milliseconds
 */
export async function withNats<T>(
  natsUrl: string,
  work: (nats: NatsConnection) => Promise<T>,
  limitMs = TIMEOUT_MS,
): Promise<T> {
  const once = { timeout: TIMEOUT_MS, waitOnFirstConnect: false, reconnect: false };
  const nats = await connect({ ...natsOptions(natsUrl, 'operator'), ...once });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer')), limitMs);
  });
  try {
    return await Promise.race([work(nats), late]);
  } finally {
    clearTimeout(timer);
    await nats.close();
  }
}

/**
 * Broadcasts that a client or resource server changed, so that running services drop what they cached of it, "unknown"
 * included. A failure is only a warning: the change itself is stored.
 */
export async function publishClientChanged(natsUrl: string, clientId: string): Promise<void> {
  try {
    await withNats(natsUrl, (nats) => {
      nats.publish(SUBJECTS.clientChanged, JSON.stringify({ client_id: clientId } satisfies ClientChanged));
      return nats.flush();
    });
  } catch {
    warn('NATS (NATS_URL) does not answer: running services may take 30 s to notice the change');
  }
}
