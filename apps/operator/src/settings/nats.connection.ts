import { connect, type NatsConnection } from '@nats-io/transport-node';
import { natsOptions } from '#platform/nats/nats-options.js';

const TIMEOUT_MS = 2_000;

/**
 * Connects to NATS for the length of `work`, by one attempt. Rejects when NATS does not answer, or `work` takes too
 * long: a server that took the connection and then hangs must not hang the command.
 *
 * @param limitMs how long `work` may take
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
