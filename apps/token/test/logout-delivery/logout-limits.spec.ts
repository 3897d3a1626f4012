import { randomBytes } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import {
  LOGOUT_CONSUMERS,
  LOGOUT_STREAM,
  LOGOUT_SUBJECTS,
  sessionsEnded,
  storeLogout,
} from '#messaging/logout/logout-queue.js';
import { ensureLogoutQueue } from '#messaging/logout/logout-stream.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { auditEvents } from '#test/support/audit-trail.js';
import { ID_TOKEN_KEYS, pkcs8, rsaKey } from '#test/support/keys.js';
import { startLogoutReceiver } from '#test/support/logout-receiver.js';
import { until } from '#test/support/until.js';
import { useTokenApp } from '../support/use-token-app.js';

describe('logout limits', () => {
  const HOUR_MS = 3_600_000;
  const WITHIN_MS = 60_000;

  const app = useTokenApp({ ID_TOKEN_KEYS, OUTSIDE_FETCH_ALLOW: '127.0.0.1' });

  let receiver: Awaited<ReturnType<typeof startLogoutReceiver>>;
  let nats: NatsConnection;

  beforeAll(async () => {
    receiver = await startLogoutReceiver();
    nats = await connect(natsOptions(app.natsUrl, 'logout test'));
  });

  afterAll(async () => {
    receiver.close();
    await nats.close();
  });

  const newSession = (): string => randomBytes(32).toString('base64url');

  async function clientOf(status: number, ...sessions: string[]) {
    const path = `/${newSession()}`;
    receiver.statuses.set(path, status);
    return { clientId: await app.sessionClient(receiver.url + path, app.userId, ...sessions), path };
  }

  const endSession = (session: string, at = Date.now()) =>
    storeLogout(nats, LOGOUT_SUBJECTS.ended('authorize'), sessionsEnded({ session }, at));
  const failures = (clientId: string, count = 1) =>
    auditEvents(app.natsUrl, { types: ['logout_token.failed'], clientId }, count);
  const receivedAt = (path: string, count = 1) =>
    until(`${count} logout tokens at ${path}`, WITHIN_MS, () => receiver.at(path).length >= count);

  async function messagesInQueue(): Promise<number> {
    const { streams } = await jetstreamManager(nats);
    return (await streams.info(LOGOUT_STREAM)).state.messages;
  }

  describe('a log-out that is an hour old', () => {
    it('is dropped after one attempt, with an audit event', async () => {
      const session = newSession();
      const { clientId, path } = await clientOf(503, session);
      await endSession(session, Date.now() - HOUR_MS);
      expect(await failures(clientId)).toMatchObject([
        {
          service: 'token',
          user_id: app.userId,
          check: 'logout_token_dropped',
          detail: { outcome: 'dropped', failure: 'status 503', attempts: 1 },
        },
      ]);
      expect(receiver.at(path)).toHaveLength(1);
      await until('an empty queue', WITHIN_MS, async () => (await messagesInQueue()) === 0);
    });

    it('is delivered if the application accepts it', async () => {
      const session = newSession();
      const { path } = await clientOf(200, session);
      await endSession(session, Date.now() - HOUR_MS);
      await receivedAt(path);
    });

    it('is dropped without an attempt while earlier log-outs wait for the application', async () => {
      // Two log-outs are in progress, 20 wait, and one exceeds the limit.
      const sessions = Array.from({ length: 23 }, newSession);
      const { clientId, path } = await clientOf(0, ...sessions);
      for (const session of sessions) await endSession(session, Date.now() - HOUR_MS);
      const [event] = await failures(clientId);
      expect(event?.detail).toMatchObject({
        outcome: 'dropped',
        failure: 'earlier logout tokens still wait for the application',
      });
      expect(receiver.at(path).length).toBeLessThanOrEqual(2);
      receiver.statuses.set(path, 200);
    });
  });

  it('delayed logout tokens of a client cause only one audit event', async () => {
    const sessions = [newSession(), newSession(), newSession()] as const;
    const { clientId, path } = await clientOf(503, ...sessions);
    await endSession(sessions[0]);
    await endSession(sessions[1]);
    await receivedAt(path, 2);
    receiver.statuses.set(path, 400);
    await endSession(sessions[2]);
    const outcomes = (await failures(clientId, 2)).map(({ detail }) => detail?.['outcome']);
    expect(outcomes).toEqual(['retried', 'refused']);
  });

  it('a limit on unacknowledged messages, set by an earlier version, is removed by ensureLogoutQueue', async () => {
    const { consumers } = await jetstreamManager(nats);
    const limit = async () =>
      (await consumers.info(LOGOUT_STREAM, LOGOUT_CONSUMERS.delivery.name)).config.max_ack_pending;
    await consumers.update(LOGOUT_STREAM, LOGOUT_CONSUMERS.delivery.name, { max_ack_pending: 10 });
    expect(await limit()).toBe(10);
    await ensureLogoutQueue(nats);
    expect(await limit()).toBe(-1);
  });

  it('a queue that NATS has lost is created again by the running app', async () => {
    await (await jetstreamManager(nats)).streams.delete(LOGOUT_STREAM);
    const session = newSession();
    const { path } = await clientOf(200, session);
    await until('the log-out is stored', WITHIN_MS, async () => {
      await endSession(session);
      return true;
    });
    await receivedAt(path);
  });

  it('a log-out URI that is not public is recorded as the cause of a failure', async () => {
    const session = newSession();
    const { clientId } = await app.clients.create({
      name: 'Calendar Connect',
      type: 'confidential',
      scopes: ['openid'],
      redirectUris: ['https://app.example.com/cb'],
      logoutUris: { postLogoutRedirectUris: [], backchannelLogoutUri: 'http://localhost:1/logout' },
    });
    await app.code(clientId, app.userId, { scope: 'openid', login: { authTime: null, session } });
    await endSession(session);
    expect(await failures(clientId)).toMatchObject([
      {
        check: 'logout_address_forbidden',
        detail: { outcome: 'retried', failure: expect.stringContaining('OUTSIDE_FETCH_ALLOW') },
      },
    ]);
  });
});

describe('logout without key', () => {
  const HOUR_MS = 3_600_000;

  const app = useTokenApp({ ID_TOKEN_KEYS: pkcs8(rsaKey()) });

  it.each([
    ['is repeated', 'retried', 0],
    ['is dropped when it is an hour old', 'dropped', HOUR_MS],
  ])('a log-out for a client whose algorithm no longer has a key %s', async (_what, outcome, ageMs) => {
    const { clientId } = await app.clients.create({
      name: 'Calendar Connect',
      type: 'confidential',
      scopes: ['openid'],
      redirectUris: ['https://app.example.com/cb'],
      idTokenAlg: 'ES256',
      logoutUris: { postLogoutRedirectUris: [], backchannelLogoutUri: 'https://app.example.com/logout' },
    });
    const session = `session-of-${outcome}`;
    await app.code(clientId, app.userId, { scope: 'openid', login: { authTime: null, session } });
    const nats = await connect(natsOptions(app.natsUrl, 'logout test'));
    const event = sessionsEnded({ session }, Date.now() - ageMs);
    await storeLogout(nats, LOGOUT_SUBJECTS.ended('authorize'), event);
    await nats.close();
    const [failed] = await auditEvents(app.natsUrl, { types: ['logout_token.failed'], clientId });
    expect(failed?.detail).toMatchObject({ outcome, failure: 'no key of ES256 signs' });
  });
});
