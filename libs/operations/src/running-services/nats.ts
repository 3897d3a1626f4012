import { connect, type NatsConnection } from '@nats-io/transport-node';
import { natsOptions } from '#messaging/nats.connection.js';
import { withTimeout } from '#platform/with-timeout.js';

const TIMEOUT_MS = 5_000;

/** Does not retry. Rejects after `limitMs`, because a server may accept the connection and then hang. */
export async function withNats<T>(
  natsUrl: string,
  work: (nats: NatsConnection) => Promise<T>,
  limitMs = TIMEOUT_MS,
): Promise<T> {
  const once = { timeout: TIMEOUT_MS, waitOnFirstConnect: false, reconnect: false };
  const nats = await connect({ ...natsOptions(natsUrl, 'operator'), ...once });
  try {
    return await withTimeout(work(nats), limitMs);
  } finally {
    await nats.close();
  }
}
