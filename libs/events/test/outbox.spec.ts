import { generateClientSecret } from '#oauth/oauth-client.js';
import { EventStore } from '#events/event.store.js';
import { EventStreamStore, type Lease } from '#events/event-stream.store.js';
import { type RequestableEvent, REQUESTABLE_EVENTS } from '#events/event-type.js';
import { GrantAdministrationStore } from '#grants/records/grant-administration.store.js';
import { grantId } from '#grants/token-codec.js';
import { type Fixture, openFixture, started } from '#test/support/fixture.js';
import { isolate, type Isolated } from '#test/support/isolate.js';

const fixture = started() as Fixture;
let services: Isolated;

beforeAll(async () => {
  services = await isolate();
  Object.assign(fixture, await openFixture(services, Buffer.alloc(32, 1).toString('base64url')));
});
afterAll(async () => {
  await fixture.close();
  await services.close();
});

async function listener(requested: readonly RequestableEvent[] = REQUESTABLE_EVENTS) {
  const { client_id: clientId } = await fixture.client();
  const stream = await fixture.store(EventStreamStore).create(clientId, {
    delivery: 'poll',
    endpointUrl: null,
    authorizationHeader: null,
    eventsRequested: requested,
    description: null,
  });
  const events = () => fixture.store(EventStore).outstanding(stream?.id ?? '', 100);
  const types = async () => (await events()).map(({ type }) => type);
  return { clientId, streamId: stream?.id ?? '', events, types };
}

async function granted(clientId: string, scope = 'profile:read') {
  const userId = await fixture.user();
  const code = await fixture.code(clientId, userId, { scope });
  const handle = fixture.codec.decode(code)?.handle;
  return { userId, id: handle ? grantId(handle) : '' };
}

const manyGrants = (clientId: string, userId: number, count: number) =>
  fixture.sql(
    `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, lifetime, expires_at)
     SELECT translate(left(encode(sha256(($1 || n)::bytea), 'base64'), 43), '+/', '-_'), $2, $1, '', '',
            interval '1 day', now() + interval '1 day' FROM generate_series(1, $3::integer) n`,
    [clientId, userId, count],
  );

describe('the outbox', () => {
  it('notifies only the client of a revoked grant, with the cause', async () => {
    const [ours, other] = [await listener(), await listener()];
    const { id, userId } = await granted(ours.clientId);
    await fixture.store(GrantAdministrationStore).revokeOne(id);
    expect(await ours.events()).toMatchObject([
      { type: 'tokens-revoked', userId, details: { grant_id: id, reason: 'operator' } },
    ]);
    expect(await other.events()).toEqual([]);
  });

  it('runs once for a statement that revokes many grants, and records one event for each', async () => {
    const { clientId, streamId } = await listener();
    const userId = await fixture.user();
    await manyGrants(clientId, userId, 2_000);
    const [row] = (await fixture.sql(
      "EXPLAIN (ANALYZE, FORMAT JSON) UPDATE grants SET revoked_at = now() WHERE client_id = '" +
        clientId +
        "'",
    )) as { 'QUERY PLAN': { Triggers: object[] }[] }[];
    expect(row?.['QUERY PLAN'][0]?.Triggers).toMatchObject([{ Calls: 1 }]);
    const [recorded] = await fixture.sql(
      "SELECT count(DISTINCT details->>'grant_id')::integer AS grants, count(*)::integer AS events FROM events WHERE stream_id = $1",
      [streamId],
    );
    expect(recorded).toEqual({ grants: 2_000, events: 2_000 });
  });

  it('records one event for a client with many grants that is disabled', async () => {
    const { clientId, types } = await listener();
    await manyGrants(clientId, await fixture.user(), 2_000);
    await fixture.registrations.setDisabled(clientId, true);
    expect(await types()).toEqual(['client-disabled']);
  });

  it('records nothing twice', async () => {
    const { clientId, types } = await listener();
    const { id } = await granted(clientId);
    for (let attempt = 0; attempt < 2; attempt++) await fixture.records.revoke(id, 'user');
    expect(await types()).toEqual(['tokens-revoked']);
  });

  it('records nothing if the transaction is rolled back', async () => {
    const { clientId, types } = await listener();
    const { id } = await granted(clientId);
    await fixture.sql('BEGIN');
    await fixture.sql('UPDATE grants SET revoked_at = now() WHERE id = $1', [id]);
    await fixture.sql('ROLLBACK');
    expect(await types()).toEqual([]);
  });

  it('records only requested events', async () => {
    const { clientId, types } = await listener(['account-disabled']);
    const { userId } = await granted(clientId);
    await fixture.accounts.disable(userId);
    expect(await types()).toEqual(['account-disabled']);
  });

  it('joins the events of one cause', async () => {
    const { clientId, events } = await listener();
    const { userId } = await granted(clientId);
    await fixture.accounts.disable(userId);
    await fixture.accounts.enable(userId, true);
    const all = await events();
    expect(all.map(({ type }) => type)).toEqual(['tokens-revoked', 'account-disabled', 'account-enabled']);
    expect(new Set(all.map(({ txn }) => txn)).size).toBe(2);
  });

  it('notifies the clients of a deleted user', async () => {
    const { clientId, types } = await listener();
    const { userId } = await granted(clientId);
    await fixture.accounts.disable(userId);
    await fixture.accounts.delete(userId);
    expect(await types()).toEqual(['tokens-revoked', 'account-disabled', 'account-purged']);
  });

  it('sends a new email address only to clients that may read it', async () => {
    const [reader, other] = [await listener(), await listener()];
    const { userId } = await granted(reader.clientId, 'openid email');
    await fixture.code(other.clientId, userId);
    await fixture.sql('UPDATE users SET email = $1 WHERE id = $2', [`new${userId}@example.com`, userId]);
    expect([await reader.types(), await other.types()]).toEqual([['identifier-changed'], []]);
  });

  it('sends an event for a new password and the end of the sessions, but not for a new hash of the same password', async () => {
    const { clientId, types } = await listener();
    const { userId } = await granted(clientId);
    const hash = '$argon2id$another hash';
    await fixture.sql('UPDATE users SET password_hash = $1 WHERE id = $2', [hash, userId]);
    expect(await types()).toEqual([]);
    await fixture.sql(
      'UPDATE users SET password_hash = $1, session_generation = session_generation + 1 WHERE id = $2',
      [`${hash}2`, userId],
    );
    expect(await types()).toEqual(['credential-change', 'session-revoked']);
  });

  it('notifies a client of changes of its own state and credentials', async () => {
    const { clientId, events, types } = await listener();
    await fixture.sql('UPDATE clients SET disabled_at = now() WHERE client_id = $1', [clientId]);
    await fixture.sql('UPDATE clients SET disabled_at = NULL WHERE client_id = $1', [clientId]);
    await fixture.sql('INSERT INTO client_secrets (client_id, hash) VALUES ($1, $2)', [
      clientId,
      generateClientSecret().hash,
    ]);
    expect(await types()).toEqual(['client-disabled', 'client-enabled', 'client-credential-changed']);
    expect((await events()).map(({ userId }) => userId)).toEqual([null, null, null]);
  });

  it('ends with its client', async () => {
    const { clientId, streamId } = await listener();
    await fixture.sql('UPDATE clients SET deleted_at = now() WHERE client_id = $1', [clientId]);
    expect(await fixture.store(EventStreamStore).ofClient(clientId)).toBeNull();
    expect(await fixture.store(EventStore).hasOutstanding(streamId)).toBe(false);
  });
});

describe('events that wait', () => {
  const RECEIVER = 'https://a.example/';
  const FAILED = { endpointUrl: RECEIVER, isFirst: false, isSlow: false };

  /** Creates a stream that pushes, with an event. */
  async function pushed() {
    const { clientId, streamId } = await listener();
    await fixture.sql("UPDATE event_streams SET delivery = 'push', endpoint_url = $2 WHERE id = $1", [
      streamId,
      RECEIVER,
    ]);
    await fixture.store(EventStore).record(streamId, 'verification', {});
    return { clientId, streamId };
  }

  async function leased(streamId: string): Promise<Lease> {
    const leases = await fixture.store(EventStreamStore).leaseDue(100, 60, false);
    return leases.find(({ id }) => id === streamId) as Lease;
  }

  it('expire after a week, and are deleted after another one', async () => {
    const { clientId, events } = await listener();
    const { id } = await granted(clientId);
    await fixture.records.revoke(id, 'user');
    const [event] = await events();
    const age = (days: number) =>
      fixture.sql("UPDATE events SET created_at = now() - $1 * interval '1 day' WHERE jti = $2", [
        days,
        event?.jti,
      ]);
    await age(6.9);
    await fixture.store(EventStore).expire();
    expect(await events()).toHaveLength(1);
    await age(7.1);
    expect(await fixture.store(EventStore).expire()).toEqual([{ delivery: 'poll', expired: 1 }]);
    expect(await events()).toEqual([]);
    expect(await fixture.sql('SELECT outcome FROM events WHERE jti = $1', [event?.jti])).toEqual([
      { outcome: 'expired' },
    ]);
    await age(14.1);
    await fixture.store(EventStore).expire();
    expect(await fixture.sql('SELECT FROM events WHERE jti = $1', [event?.jti])).toEqual([]);
  });

  it('are pushed by one process at a time, and by another one after the lease', async () => {
    const { streamId } = await pushed();
    const streams = fixture.store(EventStreamStore);
    const lease = async () => (await streams.leaseDue(100, 60, false)).map((leased) => leased.id);
    expect((await Promise.all([lease(), lease(), lease()])).flat()).toEqual([streamId]);
    expect(await lease()).toEqual([]);
    await fixture.sql("UPDATE event_streams SET leased_until = now() - interval '1 s' WHERE id = $1", [
      streamId,
    ]);
    expect(await lease()).toEqual([streamId]);
  });

  it('are not released by a process whose lease has ended', async () => {
    const { streamId } = await pushed();
    const lease = () => leased(streamId);
    const first = await lease();
    await fixture.sql("UPDATE event_streams SET leased_until = now() - interval '1 s' WHERE id = $1", [
      streamId,
    ]);
    const second = await lease();
    const streams = fixture.store(EventStreamStore);
    await streams.release(first, false);
    await fixture.sql("UPDATE event_streams SET failing_since = now() - interval '25 hours' WHERE id = $1", [
      streamId,
    ]);
    expect(await streams.releaseFailed(first, FAILED)).toBe(false);
    expect(await streams.held(first, null)).toBeNull();
    expect(await streams.held(second, null)).toMatchObject({ status: 'enabled', failures: 0 });
  });

  it('are not sent after the end of the lease, even if no other process has leased the stream', async () => {
    const { streamId } = await pushed();
    const streams = fixture.store(EventStreamStore);
    const leases = await streams.leaseDue(100, 0, false);
    const ended = leases.find(({ id }) => id === streamId) as Lease;
    expect(await streams.held(ended, null)).toBeNull();
  });

  it('a failure at the previous address does not delay the new address', async () => {
    const { streamId } = await pushed();
    const lease = await leased(streamId);
    await fixture.sql("UPDATE event_streams SET endpoint_url = 'https://b.example/' WHERE id = $1", [
      streamId,
    ]);
    await fixture.store(EventStreamStore).releaseFailed(lease, FAILED);
    expect(await leased(streamId)).toMatchObject({ id: streamId });
  });

  it('of a receiver that accepts some of them do not pause the stream', async () => {
    const { streamId } = await pushed();
    const lease = await leased(streamId);
    await fixture.sql("UPDATE event_streams SET failing_since = now() - interval '25 hours' WHERE id = $1", [
      streamId,
    ]);
    const accepted = { ...FAILED, isFirst: true };
    expect(await fixture.store(EventStreamStore).releaseFailed(lease, accepted)).toBe(false);
  });

  it('wait longer after each failure, and the stream is paused after a day', async () => {
    const { streamId } = await pushed();
    const streams = fixture.store(EventStreamStore);
    const fail = async () => {
      await fixture.sql('UPDATE event_streams SET due_at = now() WHERE id = $1', [streamId]);
      return streams.releaseFailed(await leased(streamId), FAILED);
    };
    const wait = async () => {
      const [row] = await fixture.sql(
        'SELECT round(extract(epoch FROM due_at - now()))::integer AS seconds, status FROM event_streams WHERE id = $1',
        [streamId],
      );
      return row;
    };
    for (const seconds of [5, 30, 120, 600, 1800, 3600, 3600]) {
      expect(await fail()).toBe(false);
      expect(await wait()).toEqual({ seconds, status: 'enabled' });
    }
    await fixture.sql("UPDATE event_streams SET failing_since = now() - interval '25 hours' WHERE id = $1", [
      streamId,
    ]);
    expect(await fail()).toBe(true);
    expect(await wait()).toMatchObject({ status: 'paused' });
  });
});
