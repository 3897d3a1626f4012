import { connect, type NatsConnection } from '@nats-io/transport-node';
import { natsOptions } from '#messaging/nats.connection.js';
import { type NatsWork, useConnection } from '#messaging/use-connection.js';
import { withTimeout } from '#platform/clock.js';
import { type AdministrationOptions, trailServer } from './administration.options.js';

const CONNECT_MS = 5_000;

/** `services` is the server of NATS_URL, and `trail` the server of the audit trail and the log-outs. */
export type NatsServer = 'services' | 'trail';

/** Port: the connections over which operations announce, record and read. */
export abstract class OperatorNats {
  /** Like `useConnection`. */
  abstract use<T>(server: NatsServer, work: NatsWork<T>, limitMs?: number): Promise<T>;
}

/**
 * Adapter of a command: a connection for each use, because a command announces its change after it has closed
 * everything.
 */
export class CommandNats extends OperatorNats {
  constructor(private readonly options: AdministrationOptions) {
    super();
  }

  async use<T>(server: NatsServer, work: NatsWork<T>, limitMs?: number): Promise<T> {
    const { settings } = this.options;
    const url = server === 'services' ? settings.natsUrl : trailServer(settings).url;
    const options = { ...natsOptions(url, 'operator'), timeout: CONNECT_MS, waitOnFirstConnect: false };
    const connection = connect(options);
    try {
      return await useConnection(connection, work, limitMs);
    } finally {
      await connection.then(
        (nats) => nats.close(),
        () => undefined,
      );
    }
  }
}

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
