import { randomBytes } from 'node:crypto';
import { decodeJwt } from 'jose';
import { LogoutStore } from '#events/logout.store.js';
import { type AppProcess, startApp } from '#test/support/app-process.js';
import { appSettings } from '#test/support/app-settings.js';
import { until } from '#test/support/until.js';
import { type Fixture, openFixture } from '#test/support/fixture.js';
import { ID_TOKEN_KEYS } from '#test/support/keys.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { startLogoutReceiver } from '#test/support/logout-receiver.js';
import { useTokenApp } from '../support/use-token-app.js';

describe('logout crash', () => {
  const WITHIN_MS = 60_000;

  let services: Isolated;
  let fixture: Fixture;
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
  });

  afterAll(async () => {
    await Promise.all(running.map((app) => app.stop()));
    receiver.close();
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

  const endSession = (session: string) => fixture.store(LogoutStore).sessionEnded(session);
  const receivedAt = (path: string, count: number) =>
    until(`${count} logout tokens at ${path}`, WITHIN_MS, () => receiver.at(path).length >= count);

  // @reliability logouts
  it('another token app sends the logout tokens of a killed token app, with the same jti', async () => {
    const killed = await start();
    // The first process waits for the response to a logout token, and has not sent the next one.
    const { path, session } = await clientWithSession();
    receiver.statuses.set(path, 0);
    await endSession(session);
    await endSession(session);
    await receivedAt(path, 1);
    process.kill(killed.process.pid, 'SIGKILL');
    await killed.process.ended;
    receiver.statuses.delete(path);
    // Ends the lease of the killed process, for which the other would wait.
    const leases = await fixture.sql(
      'UPDATE event_streams SET leased_until = now() WHERE leased_until > now() RETURNING 1',
    );
    expect(leases).toHaveLength(1);
    await start();
    await receivedAt(path, 3);
    const [sent, repeated, next] = receiver.at(path).map(({ token }) => decodeJwt(token).jti);
    expect(repeated).toBe(sent);
    expect(next).not.toBe(sent);
  });
});

describe('logout backlog', () => {
  const BACKLOG = 10_500;
  const WITHIN_MS = 60_000;

  const app = useTokenApp({ ID_TOKEN_KEYS, OUTSIDE_FETCH_ALLOW: '127.0.0.1' });

  it('a client that does not respond to ten thousand logout tokens does not delay the token of another client', async () => {
    const receiver = await startLogoutReceiver();
    const session = randomBytes(32).toString('base64url');
    try {
      receiver.statuses.set('/stalled', 0);
      const stalled = await app.sessionClient(`${receiver.url}/stalled`, app.userId);
      await app.sessionClient(`${receiver.url}/quick`, app.userId, session);
      await app.sql(
        `INSERT INTO events (stream_id, type, user_id, txn)
         SELECT id, 'logout', $2, gen_random_uuid() FROM event_streams, generate_series(1, ${BACKLOG}) WHERE client_id = $1`,
        [stalled, app.userId],
      );
      await until('an attempt', WITHIN_MS, () => receiver.at('/stalled').length > 0);
      await app.store(LogoutStore).sessionEnded(session);
      await until('the other logout token', WITHIN_MS, () => receiver.at('/quick').length === 1);
    } finally {
      receiver.close();
    }
  });
});
