import { Logger } from '@nestjs/common';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { Metrics } from '#platform/telemetry/metrics.js';
import { RestartableNats } from '#testing/restartable-nats.js';
import { claimSlot } from '#testing/slot.js';
import { testServices } from '#testing/test-services.js';
import { AUDIT_STREAMS, type AuditEvent, type AuditRecord } from '#audit/event.js';
import { AuditPublisher } from '#audit/publisher.js';
import { AuditReader } from '#audit/reader.js';
import { DEFAULT_AUDIT_RETENTION, ensureAuditStreams } from '#audit/streams.js';
import { natsOptions } from '#platform/nats/nats.connection.js';

const RETENTION = { ...DEFAULT_AUDIT_RETENTION, megabytes: 64 };
const MAX_EVENTS = 20_000;

function publisherAt(natsUrl: string, retention: typeof RETENTION | undefined = RETENTION) {
  const metrics = new Metrics();
  const publisher = new AuditPublisher({ service: 'token', natsUrl, retention }, metrics);
  const value = async (name: string) =>
    (await metrics.registry.getSingleMetric(name)?.get())?.values[0]?.value ?? 0;
  return { publisher, value };
}

async function read(natsUrl: string): Promise<AuditEvent[]> {
  const reader = await AuditReader.open(natsUrl, 'test reader');
  const events: AuditEvent[] = [];
  for await (const event of reader.read({})) events.push(event);
  await reader.close();
  return events;
}

const issued = (user_id: number): AuditRecord => ({ type: 'token.issued', user_id });
const stored = async (publisher: AuditPublisher) => {
  while (publisher.state.waiting > 0) await new Promise((resolve) => setTimeout(resolve, 20));
};

describe('the publisher of the audit trail', () => {
  beforeAll(() => Logger.overrideLogger(false));

  it('loses nothing and repeats nothing over restarts of NATS, and while NATS is away', async () => {
    const nats = await RestartableNats.start();
    const { publisher, value } = publisherAt(nats.url);
    publisher.onApplicationBootstrap();
    let count = 0;
    const record = (many: number) => {
      for (let n = 0; n < many; n++) publisher.record(issued(count++));
    };
    record(1_200);
    await stored(publisher);
    for (let restart = 0; restart < 3; restart++) {
      // Some of these are on their way when NATS dies.
      record(1_700);
      await new Promise(setImmediate);
      await nats.kill();
      record(300);
      await nats.restart();
      record(300);
    }
    await publisher.onApplicationShutdown();
    const users = (await read(nats.url)).map(({ user_id: id }) => Number(id));
    expect(users.toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, n) => n));
    expect(publisher.state).toEqual({ waiting: 0, dropped: 0 });
    expect(await value('oauth_audit_events_total')).toBe(count);
    await nats.stop();
  });

  it('sends events of one type that wait together in one message', async () => {
    const nats = await RestartableNats.start();
    const { publisher } = publisherAt(nats.url);
    publisher.onApplicationBootstrap();
    for (let n = 0; n < 400; n++) publisher.record(issued(n));
    await publisher.onApplicationShutdown();
    const reader = await AuditReader.open(nats.url, 'test reader');
    const [, activity] = await reader.streams();
    await reader.close();
    // 32,000 characters each.
    expect(activity?.messages).toBeLessThan(10);
    expect(await read(nats.url)).toHaveLength(400);
    await nats.stop();
  });

  it('keeps events until there are streams to store them', async () => {
    const slot = await claimSlot(testServices());
    const { publisher } = publisherAt(slot.natsUrl, null as never);
    publisher.onApplicationBootstrap();
    publisher.record(issued(1));
    const nats = await connect(natsOptions(slot.natsUrl, 'test'));
    await ensureAuditStreams(nats, RETENTION);
    await nats.close();
    await stored(publisher);
    await publisher.onApplicationShutdown();
    expect(await read(slot.natsUrl)).toMatchObject([{ user_id: 1, service: 'token', version: 1 }]);
    await slot.release();
  });

  it('stores the trail while NATS does not take the refusals', async () => {
    const slot = await claimSlot(testServices());
    const nats = await connect(natsOptions(slot.natsUrl, 'test'));
    await ensureAuditStreams(nats, RETENTION);
    await (await jetstreamManager(nats)).streams.delete(AUDIT_STREAMS.refusals.name);
    await nats.close();
    const { publisher } = publisherAt(slot.natsUrl, null as never);
    for (let n = 0; n < 600; n++) publisher.record({ type: 'request.refused' });
    publisher.record(issued(1));
    publisher.onApplicationBootstrap();
    while (publisher.state.waiting > 600) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await read(slot.natsUrl)).toMatchObject([{ type: 'token.issued' }]);
    await publisher.onApplicationShutdown();
    expect(publisher.state).toMatchObject({ dropped: 600 });
    await slot.release();
  });

  it('counts what does not fit into its buffer, of which refusals get half', async () => {
    // Nothing listens there.
    const { publisher, value } = publisherAt('nats://127.0.0.1:1');
    for (let n = 0; n < MAX_EVENTS; n++) publisher.record({ type: 'request.refused' });
    expect(publisher.state).toEqual({ waiting: MAX_EVENTS / 2, dropped: MAX_EVENTS / 2 });
    for (let n = 0; n < MAX_EVENTS; n++) publisher.record(issued(n));
    expect(publisher.state).toEqual({ waiting: MAX_EVENTS, dropped: MAX_EVENTS });
    expect(await value('oauth_audit_events_dropped_total')).toBe(MAX_EVENTS);
    expect(await value('oauth_audit_events_waiting')).toBe(MAX_EVENTS);
  });

  it('bounds the size of its buffer, of events that are large', () => {
    const { publisher } = publisherAt('nats://127.0.0.1:1');
    for (let n = 0; n < 3_000; n++) publisher.record({ ...issued(n), detail: { text: 'x'.repeat(15_000) } });
    expect(publisher.state.waiting).toBeLessThan(1_100);
    expect(publisher.state.dropped).toBe(3_000 - publisher.state.waiting);
  });

  it('stores what was recorded last when the process ends, without credentials and values of any length', async () => {
    const slot = await claimSlot(testServices());
    const { publisher } = publisherAt(slot.natsUrl);
    publisher.onApplicationBootstrap();
    publisher.record({ ...issued(1), detail: { found: `sat_${'a'.repeat(90)}` } });
    publisher.record({ ...issued(2), detail: { found: 'x'.repeat(20_000) } });
    publisher.record({ ...issued(3), client_id: '\0'.repeat(20_000), reference: 'y'.repeat(20_000) });
    await publisher.onApplicationShutdown();
    const [one, two, three] = await read(slot.natsUrl);
    expect(JSON.stringify(three).length).toBeLessThan(5_000);
    expect(one?.detail).toEqual({ found: 'sat_…' });
    expect(two?.detail).toEqual({ omitted: expect.stringMatching(/^20\d{3} characters$/) });
    await slot.release();
  });
});
