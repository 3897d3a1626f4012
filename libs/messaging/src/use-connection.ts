import type { NatsConnection, QueuedIterator, Status } from '@nats-io/transport-node';
import { DependencyUnavailableError } from '#platform/errors.js';
import { withTimeout } from '#platform/clock.js';

const ANSWER_MS = 5_000;

export type NatsWork<T> = (nats: NatsConnection) => Promise<T>;

/**
 * Works with a shared connection that reconnects. Fails immediately while it is down, and when it is lost during the
 * work, because the client alone would wait for a reply that cannot arrive.
 * @param connection null if it was closed before it connected
 * @param limitMs omit for work that has its own limits and continues after a reconnect
 * @throws DependencyUnavailableError if the server does not answer a ping
 */
export async function useConnection<T>(
  connection: Promise<NatsConnection | null>,
  work: NatsWork<T>,
  limitMs?: number,
): Promise<T> {
  const nats = await withTimeout(answering(connection), ANSWER_MS).catch((cause: unknown) => {
    throw new DependencyUnavailableError('nats', cause);
  });
  if (limitMs === undefined) return work(nats);
  const changes = nats.status() as QueuedIterator<Status>;
  try {
    return await withTimeout(Promise.race([work(nats), lost(changes)]), limitMs);
  } finally {
    changes.stop();
  }
}

async function answering(connection: Promise<NatsConnection | null>): Promise<NatsConnection> {
  const nats = await connection;
  if (!nats) throw new Error('the connection is closed');
  await nats.rtt();
  return nats;
}

async function lost(changes: AsyncIterable<Status>): Promise<never> {
  for await (const { type } of changes) if (type === 'disconnect') break;
  throw new DependencyUnavailableError('nats', 'the connection was lost');
}
