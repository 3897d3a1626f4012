import { randomBytes } from 'node:crypto';
import { LogoutStore } from '#events/logout.store.js';
import { auditEvents } from '#test/support/audit-trail.js';
import { ID_TOKEN_KEYS, pkcs8, rsaKey } from '#test/support/keys.js';
import { startLogoutReceiver } from '#test/support/logout-receiver.js';
import { until } from '#test/support/until.js';
import { type ConnectedTokenApp, useTokenApp } from '../support/use-token-app.js';

const WITHIN_MS = 60_000;
const newSession = (): string => randomBytes(32).toString('base64url');
const failures = (app: ConnectedTokenApp, clientId: string, count = 1) =>
  auditEvents(app.natsUrl, { types: ['logout_token.failed'], clientId }, count);

describe('logout limits', () => {
  const app = useTokenApp({ ID_TOKEN_KEYS, OUTSIDE_FETCH_ALLOW: '127.0.0.1' });
  let receiver: Awaited<ReturnType<typeof startLogoutReceiver>>;

  beforeAll(async () => {
    receiver = await startLogoutReceiver();
  });
  afterAll(() => receiver.close());

  async function clientOf(status: number, ...sessions: string[]) {
    const path = `/${newSession()}`;
    receiver.statuses.set(path, status);
    return { clientId: await app.sessionClient(receiver.url + path, app.userId, ...sessions), path };
  }

  const endSession = (session: string) => app.store(LogoutStore).sessionEnded(session);
  const receivedAt = (path: string, count = 1) =>
    until(`${count} logout tokens at ${path}`, WITHIN_MS, () => receiver.at(path).length >= count);
  const streamOf = async (clientId: string) =>
    (await app.sql('SELECT status, endpoint_url FROM event_streams WHERE client_id = $1', [clientId]))[0];
  const tryNow = (clientId: string, more = '') =>
    app.sql(`UPDATE event_streams SET due_at = now() ${more} WHERE client_id = $1`, [clientId]);

  it('a logout token that waited for six days is delivered', async () => {
    const session = newSession();
    const { path } = await clientOf(200, session);
    await app.sql(
      `BEGIN;
       SELECT record_logouts('${session}', NULL);
       UPDATE events SET created_at = now() - interval '6 days' WHERE details->>'session' = '${session}';
       COMMIT`,
    );
    await receivedAt(path);
  });

  it('repeated failures of one client cause only one audit event', async () => {
    const session = newSession();
    const { clientId, path } = await clientOf(503, session);
    await endSession(session);
    await receivedAt(path, 2);
    receiver.statuses.set(path, 400);
    await tryNow(clientId);
    const outcomes = (await failures(app, clientId, 2)).map(({ detail }) => detail?.['outcome']);
    expect(outcomes).toEqual(['delayed', 'refused']);
  });

  it('a client that has failed for a day is paused, with an audit event', async () => {
    const session = newSession();
    const { clientId, path } = await clientOf(503, session);
    await endSession(session);
    await receivedAt(path);
    await until('a failure', WITHIN_MS, async () => (await failures(app, clientId)).length === 1);
    await tryNow(clientId, ", failing_since = now() - interval '25 hours'");
    expect((await failures(app, clientId, 2)).at(-1)).toMatchObject({
      check: 'logout_tokens_paused',
      detail: { outcome: 'paused', failure: 'status 503', attempts: 2 },
    });
    expect(await streamOf(clientId)).toMatchObject({ status: 'paused' });
  });

  it('a changed address ends the pause, and gets the waiting logout tokens', async () => {
    const session = newSession();
    const { clientId, path } = await clientOf(503, session);
    await app.sql("UPDATE event_streams SET status = 'paused' WHERE client_id = $1", [clientId]);
    await endSession(session);
    await app.sql('UPDATE clients SET backchannel_logout_uri = $1 WHERE client_id = $2', [
      `${receiver.url}${path}-new`,
      clientId,
    ]);
    await receivedAt(`${path}-new`);
    expect(receiver.at(path)).toEqual([]);
  });

  it('a waiting logout token is not sent to a client that was disabled, or whose address was removed', async () => {
    const session = newSession();
    const [disabled, removed, other] = [
      await clientOf(503, session),
      await clientOf(503, session),
      await clientOf(200, session),
    ];
    const hold = "UPDATE event_streams SET status = 'paused' WHERE client_id = ANY ($1)";
    await app.sql(hold, [[disabled.clientId, removed.clientId]]);
    await endSession(session);
    await app.registrations.setDisabled(disabled.clientId, true);
    await app.sql('UPDATE clients SET backchannel_logout_uri = NULL WHERE client_id = $1', [
      removed.clientId,
    ]);
    await app.sql("UPDATE event_streams SET status = 'enabled' WHERE client_id = $1", [disabled.clientId]);
    await until('the end', WITHIN_MS, async () => {
      const rows = await app.sql("SELECT FROM events WHERE details->>'session' = $1 AND outcome IS NULL", [
        session,
      ]);
      return rows.length === 0;
    });
    await receivedAt(other.path);
    expect([...receiver.at(disabled.path), ...receiver.at(removed.path)]).toEqual([]);
    expect(await streamOf(removed.clientId)).toBeUndefined();
  });

  it('a log-out URI that is not public is recorded as the cause of a failure', async () => {
    const session = newSession();
    const clientId = await app.sessionClient('http://localhost:1/logout', app.userId, session);
    await endSession(session);
    expect(await failures(app, clientId)).toMatchObject([
      {
        check: 'logout_address_forbidden',
        detail: { outcome: 'delayed', failure: expect.stringContaining('OUTSIDE_FETCH_ALLOW') },
      },
    ]);
  });
});

describe('logout without key', () => {
  const app = useTokenApp({ ID_TOKEN_KEYS: pkcs8(rsaKey()) });

  it('a logout token for a client whose algorithm no longer has a key waits', async () => {
    const { clientId } = await app.clients.create({
      name: 'Calendar Connect',
      type: 'confidential',
      scopes: ['openid'],
      redirectUris: ['https://app.example.com/cb'],
      idTokenAlg: 'ES256',
      postLogoutRedirectUris: [],
      backchannelLogoutUri: 'https://app.example.com/logout',
    });
    const session = newSession();
    await app.code(clientId, app.userId, { scope: 'openid', login: { authTime: null, session } });
    await app.store(LogoutStore).sessionEnded(session);
    const [failed] = await failures(app, clientId);
    expect(failed?.detail).toMatchObject({ outcome: 'delayed', failure: 'no key of ES256 signs' });
  });
});
