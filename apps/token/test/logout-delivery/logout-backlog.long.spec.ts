import { randomBytes } from 'node:crypto';
import { connect } from '@nats-io/transport-node';
import {
  LOGOUT_SUBJECTS,
  type LogoutDelivery,
  sessionsEnded,
  storeLogout,
} from '#messaging/logout/logout-queue.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { ID_TOKEN_KEYS } from '#test/support/id-token-keys.js';
import { startLogoutReceiver } from '#test/support/logout-receiver.js';
import { until } from '#test/support/until.js';
import { useTokenApp } from '../support/use-token-app.js';

/** Exceeds every default limit of NATS on unacknowledged messages. */
const BACKLOG = 10_500;
const BATCH = 500;
const WITHIN_MS = 60_000;

const app = useTokenApp({ ID_TOKEN_KEYS, OUTSIDE_FETCH_ALLOW: '127.0.0.1' });
const newId = (): string => randomBytes(32).toString('base64url');

it('a client that does not respond to ten thousand logout tokens does not delay the token of another client', async () => {
  const receiver = await startLogoutReceiver();
  const nats = await connect(natsOptions(app.natsUrl, 'logout test'));
  const session = newId();
  try {
    receiver.statuses.set('/stalled', 0);
    const stalled = await app.sessionClient(`${receiver.url}/stalled`, app.userId);
    await app.sessionClient(`${receiver.url}/quick`, app.userId, session);
    const delivery = (): LogoutDelivery => ({
      id: newId(),
      client_id: stalled,
      user_id: app.userId,
      session: newId(),
      at: Date.now(),
    });
    for (let stored = 0; stored < BACKLOG; stored += BATCH)
      await Promise.all(
        Array.from({ length: BATCH }, () => storeLogout(nats, LOGOUT_SUBJECTS.delivery, delivery())),
      );
    await storeLogout(nats, LOGOUT_SUBJECTS.ended('authorize'), sessionsEnded({ session }));
    await until('the other logout token', WITHIN_MS, () => receiver.at('/quick').length === 1);
  } finally {
    receiver.close();
    await nats.close();
  }
});
