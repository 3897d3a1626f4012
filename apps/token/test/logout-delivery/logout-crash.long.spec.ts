import { randomBytes } from 'node:crypto';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { decodeJwt } from 'jose';
import pg from 'pg';
import {
  LOGOUT_SUBJECTS,
  type LogoutDelivery,
  sessionsEnded,
  storeLogout,
} from '#messaging/logout/logout-queue.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { type AppProcess, startApp } from '#test/support/app-process.js';
import { appSettings } from '#test/support/app-settings.js';
import { blocked, until } from '#test/support/until.js';
import { type Fixture, openFixture } from '#test/support/fixture.js';
import { ID_TOKEN_KEYS } from '#test/support/keys.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { startLogoutReceiver } from '#test/support/logout-receiver.js';
import { useTokenApp } from '../support/use-token-app.js';

describe('logout crash', () => {
  /** NATS redelivers the messages of a killed process after 30 s. */
  const WITHIN_MS = 120_000;

  let services: Isolated;
  let fixture: Fixture;
  let nats: NatsConnection;
  let database: pg.Client;
  let receiver: Awaited<ReturnType<typeof startLogoutReceiver>>;
  let env: Record<string, string>;
  const running: AppProcess[] = [];

  beforeAll(async () => {
    services = await isolate();
    receiver = await startLogoutReceiver();
    const TOKEN_KEYS = randomBytes(32).toString('base64url');
    const openid = { ID_TOKEN_KEYS, OUTSIDE_FETCH_ALLOW: '127.0.0.1' };
    env = { ...appSettings(services), ...openid, TOKEN_KEYS, LOG_LEVEL: 'fatal' };
    fixture = await openFixture(services, TOKEN_KEYS);
    nats = await connect(natsOptions(services.natsUrl, 'logout test'));
    database = new pg.Client({ connectionString: services.databaseUrl });
    await database.connect();
  });

  afterAll(async () => {
    await Promise.all(running.map((app) => app.stop()));
    receiver.close();
    await nats.close();
    await database.end();
    await fixture.close();
    await services.close();
  });

  async function start(): Promise<AppProcess> {
    const app = await startApp('token', env);
    running.push(app);
    return app;
  }

  async function clientWithSession(): Promise<{ path: string; session: string }> {
    const session = randomBytes(32).toString('base64url');
    const path = `/${session}`;
    await fixture.sessionClient(receiver.url + path, await fixture.user(), session);
    return { path, session };
  }

  const endSession = (session: string) =>
    storeLogout(nats, LOGOUT_SUBJECTS.ended('authorize'), sessionsEnded({ session }));
  const receivedAt = (path: string, count: number) =>
    until(`${count} logout tokens at ${path}`, WITHIN_MS, () => receiver.at(path).length >= count);

  // @reliability logouts
  it('another token app delivers the messages of a killed token app with the same jti', async () => {
    const killed = await start();
    // The first process waits for the response to a logout token.
    const sent = await clientWithSession();
    receiver.statuses.set(sent.path, 0);
    await endSession(sent.session);
    await receivedAt(sent.path, 1);
    // The first process also looks up the grants of another session that has ended.
    const lookedUp = await clientWithSession();
    await database.query('BEGIN; LOCK TABLE oauth.grants IN ACCESS EXCLUSIVE MODE');
    await endSession(lookedUp.session);
    await blocked(fixture);
    process.kill(killed.process.pid, 'SIGKILL');
    await killed.process.ended;
    await database.query('ROLLBACK');
    receiver.statuses.delete(sent.path);
    await start();
    await Promise.all([receivedAt(sent.path, 2), receivedAt(lookedUp.path, 1)]);
    const ids = receiver.at(sent.path).map(({ token }) => decodeJwt(token).jti);
    expect(new Set(ids).size).toBe(1);
  });
});

describe('logout backlog', () => {
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
});
