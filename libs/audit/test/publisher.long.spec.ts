import { readFile } from 'node:fs/promises';
import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { Metrics } from '#platform/telemetry/metrics.js';
import { openAuditReader } from '#test/support/audit-trail.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { createTrail } from '#test/support/isolate.js';
import { RestartableNats } from '#test/support/restartable-nats.js';
import { claimSlot } from '#test/support/slot.js';
import { until } from '#test/support/until.js';
import { testServices } from '#test/support/test-services.js';
import { type AuditEvent, type AuditRecord } from '#audit/event.js';
import { AuditPublisher } from '#audit/publisher.js';
import { DEFAULT_AUDIT_RETENTION } from '#audit/retention.js';
import { natsOptions } from '#messaging/nats.connection.js';

const RETENTION = { ...DEFAULT_AUDIT_RETENTION, megabytes: 64 };
const MAX_EVENTS = 20_000;

async function natsWithTrail(configuration = '', retention = RETENTION): Promise<RestartableNats> {
  const nats = await RestartableNats.start(configuration);
  await createTrail(nats.url, retention);
  return nats;
}

function publisherAt(natsUrl: string) {
  const metrics = new Metrics();
  const publisher = new AuditPublisher({ service: 'token', natsUrl }, metrics);
  const value = async (name: string) =>
    (await metrics.registry.getSingleMetric(name)?.get())?.values[0]?.value ?? 0;
  return { publisher, value };
}

async function read(natsUrl: string): Promise<AuditEvent[]> {
  const { reader, close } = await openAuditReader(natsUrl);
  const events: AuditEvent[] = [];
  for await (const event of reader.read({})) events.push(event);
  await close();
  return events;
}

const issued = (user_id: number): AuditRecord => ({ type: 'token.issued', user_id });
const stored = async (publisher: AuditPublisher) => {
  while (publisher.state.waiting > 0) await new Promise((resolve) => setTimeout(resolve, 20));
};

/** Resolves when the proxy has forwarded this number of batches. */
const published = (proxy: FaultProxy, times = 1) =>
  new Promise<void>((resolve) => {
    proxy.onData = (bytes) => {
      if (bytes.includes('HPUB ') && --times === 0) resolve();
      return undefined;
    };
  });

describe('the publisher of the audit trail', () => {
  beforeAll(() => Logger.overrideLogger(false));

  // @reliability events-nats-restarted
  it('does not lose or repeat events when NATS restarts or is unavailable', async () => {
    const nats = await natsWithTrail();
    const proxy = await FaultProxy.start(nats.url);
    const { publisher, value } = publisherAt(proxy.url);
    publisher.onApplicationBootstrap();
    let count = 0;
    const record = (many: number) => {
      for (let n = 0; n < many; n++) publisher.record(issued(count++));
    };
    record(1_200);
    await stored(publisher);
    for (let restart = 0; restart < 3; restart++) {
      // When NATS dies, it has received some of these events and confirmed none.
      proxy.hold();
      const received = published(proxy);
      record(1_700);
      await received;
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
    await proxy.close();
    await nats.stop();
  });

  // @reliability events-nats-slow
  it('does not lose or repeat events while NATS does not respond', async () => {
    const nats = await natsWithTrail();
    const { publisher } = publisherAt(nats.url);
    publisher.onApplicationBootstrap();
    publisher.record(issued(0));
    await stored(publisher);
    nats.sleep();
    const warnings = jest.spyOn(Logger.prototype, 'warn');
    for (let n = 1; n <= 500; n++) publisher.record(issued(n));
    // The warning appears after the confirmation timeout, before the batch is sent again.
    await until('a batch is not confirmed', 60_000, () =>
      warnings.mock.calls.some(([line]) => JSON.stringify(line).includes('events wait')),
    );
    warnings.mockRestore();
    expect(publisher.state).toEqual({ waiting: 500, dropped: 0 });
    nats.wake();
    await stored(publisher);
    await publisher.onApplicationShutdown();
    const users = (await read(nats.url)).map(({ user_id: id }) => Number(id));
    expect(users.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 501 }, (_, n) => n));
    await nats.stop();
  });

  // @reliability events-killed
  it('sends a single event without waiting for others', async () => {
    const nats = await natsWithTrail();
    const { publisher } = publisherAt(nats.url);
    publisher.onApplicationBootstrap();
    for (const n of [1, 2]) {
      publisher.record(issued(n));
      await stored(publisher);
      expect(await read(nats.url)).toHaveLength(n);
    }
    await publisher.onApplicationShutdown();
    await nats.stop();
  });

  // @reliability events-stream-full
  it('stores new events in a full stream, which displace only the oldest events of that stream', async () => {
    const nats = await natsWithTrail('', { ...RETENTION, megabytes: 1 });
    const { publisher } = publisherAt(nats.url);
    publisher.onApplicationBootstrap();
    publisher.record({ type: 'token.reuse_detected', user_id: 1 });
    const last = 9_999;
    for (let n = 0; n <= last; n++) publisher.record(issued(n));
    await publisher.onApplicationShutdown();
    expect(publisher.state).toEqual({ waiting: 0, dropped: 0 });
    const events = await read(nats.url);
    const users = events.filter(({ type }) => type === 'token.issued').map(({ user_id: id }) => id);
    expect(users).toContain(last);
    expect(users).not.toContain(0);
    expect(events.filter(({ type }) => type === 'token.reuse_detected')).toHaveLength(1);
    await nats.stop();
  });

  it('loses only the event that is larger than NATS accepts', async () => {
    const nats = await natsWithTrail('max_payload: 2000');
    const { publisher, value } = publisherAt(nats.url);
    publisher.onApplicationBootstrap();
    publisher.record(issued(1));
    await stored(publisher);
    // A client can cause such an event with characters of three bytes.
    publisher.record({ type: 'token.refreshed', description: '\u20ac'.repeat(1_000) });
    publisher.record(issued(2));
    await stored(publisher);
    publisher.record(issued(3));
    await publisher.onApplicationShutdown();
    expect((await read(nats.url)).map(({ user_id: id }) => id)).toEqual([1, 2, 3]);
    expect(await value('oauth_audit_events_dropped_total')).toBe(1);
    await nats.stop();
  });

  it('uses as many bytes in NATS as docs/sizing.md states', async () => {
    const page = await readFile('docs/sizing.md', 'utf8');
    const documented = [...page.matchAll(/^\| (\d+) events? in a message \| (\d+) \|$/gm)];
    const nats = await natsWithTrail();
    const { publisher } = publisherAt(nats.url);
    publisher.onApplicationBootstrap();
    const { reader, close } = await openAuditReader(nats.url);
    const bytes = async () =>
      (await reader.streams()).find(({ stream }) => stream === 'OAUTH_ACTIVITY_TOKEN')?.bytes ?? 0;
    const refreshed = (generation: number): AuditRecord => ({
      type: 'token.refreshed',
      reference: 'Zs0aPq81mT3x',
      client_id: 'sc_abcdefghijklmnopqrstuvwx',
      user_id: 123_456,
      grant_id: 'GbWvlLZo4bRhl8YlZ3RoUh4Nm4dX1QyS0m0O8m3pKcA',
      request: { method: 'POST', path: '/api/auth/oauth/refreshToken' },
      status: 200,
      detail: { generation },
    });
    for (const [, together = '', expected = ''] of documented) {
      const [before, messages] = [await bytes(), 5];
      for (let message = 0; message < messages; message++) {
        for (let n = 0; n < Number(together); n++) publisher.record(refreshed(n));
        await stored(publisher);
      }
      const each = ((await bytes()) - before) / messages / Number(together);
      expect(Math.abs(each / Number(expected) - 1)).toBeLessThan(0.05);
    }
    expect(documented.map(([, together]) => together)).toEqual(['1', '10', '80']);
    await close();
    await publisher.onApplicationShutdown();
    await nats.stop();
  });

  it('sends waiting events of one type in few messages', async () => {
    const nats = await natsWithTrail();
    const { publisher } = publisherAt(nats.url);
    publisher.onApplicationBootstrap();
    for (let n = 0; n < 400; n++) publisher.record(issued(n));
    await publisher.onApplicationShutdown();
    const { reader, close } = await openAuditReader(nats.url);
    const activity = (await reader.streams()).find(({ stream }) => stream === 'OAUTH_ACTIVITY_TOKEN');
    await close();
    expect(activity?.messages).toBeGreaterThan(0);
    // A message contains up to 32,000 characters.
    expect(activity?.messages).toBeLessThan(10);
    expect(await read(nats.url)).toHaveLength(400);
    await nats.stop();
  });

  it('receives confirmations in an inbox that cannot be guessed', async () => {
    const slot = await claimSlot(testServices());
    await createTrail(slot.natsUrl);
    const nats = await connect(natsOptions(slot.natsUrl, 'test'));
    const inboxes: string[] = [];
    nats.subscribe('oauth.activity.>', {
      callback: (_error, { reply = '' }) => void inboxes.push(reply.split('.').at(-2) ?? ''),
    });
    await nats.flush();
    const { publisher } = publisherAt(slot.natsUrl);
    publisher.onApplicationBootstrap();
    for (const n of [1, 2]) {
      publisher.record(issued(n));
      await stored(publisher);
    }
    await publisher.onApplicationShutdown();
    await nats.flush();
    for (const inbox of inboxes) expect(inbox).toMatch(/^[\w-]{24}$/);
    expect(new Set(inboxes).size).toBe(2);
    await nats.close();
    await slot.release();
  });

  // @reliability events-stream-missing
  it('keeps events until the streams exist', async () => {
    const slot = await claimSlot(testServices());
    const proxy = await FaultProxy.start(slot.natsUrl);
    const { publisher } = publisherAt(proxy.url);
    // The publisher sends the event after connecting, after recording it, and then in a retry.
    const triedAgain = published(proxy, 3);
    publisher.onApplicationBootstrap();
    publisher.record(issued(1));
    await triedAgain;
    await createTrail(slot.natsUrl);
    await stored(publisher);
    await publisher.onApplicationShutdown();
    await proxy.close();
    expect(await read(slot.natsUrl)).toMatchObject([{ user_id: 1, service: 'token', version: 1 }]);
    await slot.release();
  });

  // @reliability events-stream-missing
  it('stores activity while NATS does not store refusals', async () => {
    const slot = await claimSlot(testServices());
    const nats = await connect(natsOptions(slot.natsUrl, 'test'));
    await createTrail(slot.natsUrl);
    await (await jetstreamManager(nats)).streams.delete('OAUTH_REFUSALS_TOKEN');
    await nats.close();
    const { publisher } = publisherAt(slot.natsUrl);
    for (let n = 0; n < 600; n++) publisher.record({ type: 'request.refused' });
    publisher.record(issued(1));
    publisher.onApplicationBootstrap();
    while (publisher.state.waiting > 600) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await read(slot.natsUrl)).toMatchObject([{ type: 'token.issued' }]);
    await publisher.onApplicationShutdown();
    expect(publisher.state).toMatchObject({ dropped: 600 });
    await slot.release();
  });

  // @reliability events-nats-down
  it('drops refusals if its buffer is half full, and activity if its buffer is nine-tenths full', async () => {
    const { publisher, value } = publisherAt('nats://127.0.0.1:1');
    for (let n = 0; n < MAX_EVENTS; n++) publisher.record({ type: 'request.refused' });
    expect(publisher.state).toEqual({ waiting: MAX_EVENTS / 2, dropped: MAX_EVENTS / 2 });
    for (let n = 0; n < MAX_EVENTS; n++) publisher.record(issued(n));
    expect(publisher.state).toEqual({ waiting: MAX_EVENTS * 0.9, dropped: MAX_EVENTS * 1.1 });
    for (let n = 0; n < MAX_EVENTS; n++) publisher.record({ type: 'token.reuse_detected' });
    expect(publisher.state).toEqual({ waiting: MAX_EVENTS, dropped: MAX_EVENTS * 2 });
    expect(await value('oauth_audit_events_dropped_total')).toBe(MAX_EVENTS * 2);
    expect(await value('oauth_audit_events_waiting')).toBe(MAX_EVENTS);
  });

  // @reliability events-nats-down
  it('bounds the size of its buffer for large events', () => {
    const { publisher } = publisherAt('nats://127.0.0.1:1');
    for (let n = 0; n < 3_000; n++) publisher.record({ ...issued(n), detail: { text: 'x'.repeat(15_000) } });
    expect(publisher.state.waiting).toBeLessThan(1_100);
    expect(publisher.state.dropped).toBe(3_000 - publisher.state.waiting);
  });

  it('reports lost events when the process ends, even just after another warning', async () => {
    const warnings: string[] = [];
    const warn = ({ msg }: { msg: string }) => warnings.push(msg);
    Logger.overrideLogger({ warn, log: () => undefined, error: () => undefined });
    const { publisher } = publisherAt('nats://127.0.0.1:1');
    publisher.onApplicationBootstrap();
    publisher.record(issued(1));
    await publisher.onApplicationShutdown();
    Logger.overrideLogger(false);
    expect(warnings).toEqual([
      expect.stringMatching(/^audit trail: NATS: /),
      expect.stringMatching(/^audit trail: events are lost: the process ends/),
    ]);
  });

  // @reliability events-shutdown
  it('stores the remaining events when the process ends, without credentials or oversized values', async () => {
    const slot = await claimSlot(testServices());
    await createTrail(slot.natsUrl);
    const { publisher } = publisherAt(slot.natsUrl);
    publisher.onApplicationBootstrap();
    publisher.record({ ...issued(1), detail: { found: `sat_${'a'.repeat(90)}` } });
    publisher.record({ ...issued(2), detail: { found: 'x'.repeat(20_000) } });
    publisher.record({ ...issued(3), client_id: '\0'.repeat(20_000), reference: 'y'.repeat(20_000) });
    publisher.record({ ...issued(4), client_id: `${'a'.repeat(499)}\u{1f600}${'\0'.repeat(20_000)}` });
    await publisher.onApplicationShutdown();
    const [one, two, three, four] = await read(slot.natsUrl);
    expect(JSON.stringify(three).length).toBeLessThan(5_000);
    expect(one?.detail).toEqual({ found: 'sat_…' });
    expect(two?.detail).toEqual({ omitted: expect.stringMatching(/^20\d{3} characters$/) });
    // Half of a surrogate pair is not valid Unicode, so pages could not link to the client.
    expect(four?.client_id).toBe(`${'a'.repeat(499)}\ufffd`);
    await slot.release();
  });
});
