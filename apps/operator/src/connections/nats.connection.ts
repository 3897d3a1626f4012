import { randomUUID } from 'node:crypto';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import {
  type ApplyRevocationsReply,
  type ApplyRevocationsRequest,
  type ClientChanged,
  SUBJECTS,
} from '#messaging/contract.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { withTimeout } from '#platform/with-timeout.js';
import { warn } from '../command-line/output.js';

const TIMEOUT_MS = 5_000;
/** Long enough for a client with a grant of every user. */
const REVOCATION_TIMEOUT_MS = 60_000;

/** Does not retry, and rejects after `limitMs`: a server may accept the connection and then hang. */
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

/** Invalidates the caches of the running services. Only warns on failure, because the change is stored. */
export async function publishClientChanged(natsUrl: string, ...clientIds: readonly string[]): Promise<void> {
  try {
    await withNats(natsUrl, (nats) => {
      for (const clientId of clientIds)
        nats.publish(SUBJECTS.clientChanged, JSON.stringify({ client_id: clientId } satisfies ClientChanged));
      return nats.flush();
    });
  } catch {
    warn('NATS (NATS_URL) does not answer: running services may take 30 s to notice the change');
  }
}

/**
 * Resolves when the services accept no token of the client or user any longer, and have evicted cached profiles.
 *
 * @param done completed part, for the error message: "the client is deleted"
 * @throws Error that says how to continue
 */
export async function applyRevocations(
  natsUrl: string,
  owner: ApplyRevocationsRequest,
  done: string,
): Promise<void> {
  try {
    await withNats(natsUrl, (nats) => requestRevocations(nats, owner), REVOCATION_TIMEOUT_MS);
  } catch (cause) {
    throw new Error(
      `${done}, but the token service did not answer over NATS (NATS_URL): ` +
        'tokens may work until it is back, and stop within seconds after that; run this command again',
      { cause },
    );
  }
}

async function requestRevocations(nats: NatsConnection, owner: ApplyRevocationsRequest): Promise<void> {
  // Published first, so that caches are evicted even if no token app answers.
  if ('user_id' in owner) nats.publish(SUBJECTS.userChanged, JSON.stringify(owner));
  const packet = JSON.stringify({ pattern: SUBJECTS.applyRevocations, data: owner, id: randomUUID() });
  const timeout = REVOCATION_TIMEOUT_MS;
  const message = await nats.request(SUBJECTS.applyRevocations, packet, { timeout });
  const reply = message.json<{ response?: ApplyRevocationsReply; err?: unknown }>();
  if (reply.response === undefined) throw new Error('it failed on the request', { cause: reply.err });
}
