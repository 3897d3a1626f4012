import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { LOGOUT_STREAM, type SessionsEnded } from '#messaging/logout/logout-queue.js';
import { natsOptions } from '#messaging/nats.connection.js';

export interface ReceivedLogout {
  readonly path: string;
  readonly type: string | undefined;
  readonly token: string;
}

/**
 * Server for all back-channel log-out URIs (section 2.6 of OpenID Connect Back-Channel Logout 1.0).
 * @param onLogout called before the response
 */
export async function startLogoutReceiver(onLogout: (logout: ReceivedLogout) => unknown = () => undefined) {
  const received: ReceivedLogout[] = [];
  /** Statuses by path; 200 by default, 0 for no response. */
  const statuses = new Map<string, number>();
  /** Paths whose responses have a compressed body that does not end. */
  const endless = new Set<string>();
  const server = createServer((request, response) => {
    const receive = async (body: string): Promise<void> => {
      const path = request.url ?? '';
      const token = new URLSearchParams(body).get('logout_token') ?? '';
      const logout = { path, type: request.headers['content-type'], token };
      received.push(logout);
      await onLogout(logout);
      const status = statuses.get(path) ?? 200;
      if (status === 0) return;
      if (endless.has(path)) response.writeHead(status, { 'Content-Encoding': 'gzip' }).write('x');
      else response.writeHead(status, status === 302 ? { Location: '/elsewhere' } : {}).end();
    };
    // An app may end during its request.
    void text(request).then(receive, () => undefined);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    statuses,
    endless,
    at: (path: string): ReceivedLogout[] => received.filter((logout) => logout.path === path),
    get received(): readonly ReceivedLogout[] {
      return received;
    },
    close(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Returns the ended sessions in the queue, oldest first. */
export async function queuedLogouts(natsUrl: string): Promise<(SessionsEnded & { subject: string })[]> {
  const nats = await connect(natsOptions(natsUrl, 'logout test'));
  try {
    const { streams } = await jetstream(nats).jetstreamManager(false);
    const { state } = await streams.info(LOGOUT_STREAM);
    const found: (SessionsEnded & { subject: string })[] = [];
    for (let seq = state.first_seq; seq <= state.last_seq && state.messages > 0; seq++) {
      const message = await streams.getMessage(LOGOUT_STREAM, { seq });
      if (message) found.push({ ...message.json<SessionsEnded>(), subject: message.subject });
    }
    return found;
  } finally {
    await nats.close();
  }
}
