import { EventStore } from '#events/event.store.js';
import { EventStreamStore } from '#events/event-stream.store.js';
import { REQUESTABLE_EVENTS } from '#events/event-type.js';
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

async function listener(): Promise<{ clientId: string; streamId: string }> {
  const clientId = await fixture.sessionClient('https://app.example.com/logout', await fixture.user());
  const stream = await fixture.store(EventStreamStore).create(clientId, {
    delivery: 'poll',
    endpointUrl: null,
    authorizationHeader: null,
    eventsRequested: REQUESTABLE_EVENTS,
    description: null,
  });
  return { clientId, streamId: stream?.id ?? '' };
}

it('sends an event about a deleted user to each of 200 applications', async () => {
  const userId = await fixture.user();
  for (let count = 0; count < 200; count++) {
    const { clientId } = await listener();
    await fixture.code(clientId, userId, { scope: 'openid', login: { authTime: null, session: 'one' } });
  }
  await fixture.accounts.disable(userId);
  await fixture.accounts.delete(userId);
  const recorded = await fixture.sql(
    'SELECT type, count(DISTINCT stream_id)::integer AS streams, count(*)::integer AS events FROM events WHERE user_id = $1 GROUP BY type ORDER BY type',
    [userId],
  );
  const each = { streams: 200, events: 200 };
  expect(recorded).toEqual([
    { type: 'account-disabled', ...each },
    { type: 'account-purged', ...each },
    { type: 'logout', ...each },
    { type: 'tokens-revoked', ...each },
  ]);
});

it('only the newest 100,000 events of a stream wait', async () => {
  const { streamId } = await listener();
  await fixture.sql(
    "INSERT INTO events (stream_id, type, txn) SELECT $1, 'client-enabled', gen_random_uuid() FROM generate_series(1, 112000)",
    [streamId],
  );
  const counts = await fixture.store(EventStore).expire();
  expect(counts.reduce((sum, { expired }) => sum + expired, 0)).toBe(12_000);
  const [row] = await fixture.sql(
    `SELECT count(*) FILTER (WHERE outcome IS NULL)::integer AS waiting,
            max(id) FILTER (WHERE outcome = 'expired') < min(id) FILTER (WHERE outcome IS NULL) AS oldest
     FROM events WHERE stream_id = $1`,
    [streamId],
  );
  expect(row).toEqual({ waiting: 100_000, oldest: true });
});
