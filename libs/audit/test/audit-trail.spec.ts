import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { natsOptions } from '#messaging/nats.connection.js';
import { openAuditReader } from '#test/support/audit-trail.js';
import { createTrail } from '#test/support/isolate.js';
import { RestartableNats } from '#test/support/restartable-nats.js';
import { claimSlot, type Slot } from '#test/support/slot.js';
import { testServices } from '#test/support/test-services.js';
import { AUDIT_STREAMS, auditEvent, type AuditEvent, type AuditRecord, auditSubject } from '#audit/event.js';
import { type AuditFilter, typesNamed } from '#audit/filter.js';
import type { AuditReader } from '#audit/reader.js';
import { ensureAuditStreams, storeEvent } from '#audit/streams.js';

function nested(levels: number): object {
  return levels === 0 ? {} : { inner: nested(levels - 1) };
}

describe('the audit trail in NATS', () => {
  let slot: Slot;
  let nats: NatsConnection;
  let reader: AuditReader;
  let close: () => Promise<void>;

  beforeAll(async () => {
    slot = await claimSlot(testServices());
    await createTrail(slot.natsUrl);
    nats = await connect(natsOptions(slot.natsUrl, 'audit test'));
    ({ reader, close } = await openAuditReader(slot.natsUrl));
  });

  afterAll(async () => {
    await close();
    await nats.close();
    await slot.release();
  });

  async function store(record: AuditRecord, time?: Date): Promise<AuditEvent> {
    const event = auditEvent('token', record, time);
    await storeEvent(nats, event);
    return event;
  }

  async function read(filter: AuditFilter): Promise<AuditEvent[]> {
    const events: AuditEvent[] = [];
    for await (const event of reader.read(filter)) events.push(event);
    return events;
  }

  it('contains no events without streams', async () => {
    const { streams } = await jetstreamManager(nats);
    await Promise.all(AUDIT_STREAMS.map(({ name }) => streams.delete(name)));
    expect(await read({ clientId: 'nobody' })).toEqual([]);
    await expect(store({ type: 'client.created' })).rejects.toThrow();
    await createTrail(slot.natsUrl);
    const event = await store({ type: 'client.created', client_id: 'first' });
    expect(await read({ clientId: 'first' })).toEqual([event]);
  });

  // @reliability events-nats-restarted
  it('returns an event once even if it was stored twice', async () => {
    const event = await store({ type: 'token.issued', client_id: 'twice' });
    await storeEvent(nats, event);
    // A publish without JetStream has no Nats-Msg-Id, so NATS does not drop the duplicate.
    nats.publish(auditSubject(event), JSON.stringify(event));
    await nats.flush();
    expect(await read({ clientId: 'twice' })).toEqual([event]);
  });

  it('returns an event although another service stored an earlier one with the same id', async () => {
    const event = await store({ type: 'user.deleted', client_id: 'same-id' });
    const earlier = auditEvent('resource', { type: 'request.refused', client_id: 'same-id' }, new Date(0));
    const other = { ...earlier, id: event.id };
    await storeEvent(nats, other);
    expect(await read({ clientId: 'same-id' })).toEqual([other, event]);
  });

  it('orders the events of one message by time', async () => {
    const [first, second] = [1, 2].map((later) =>
      auditEvent('token', { type: 'token.issued', client_id: 'together' }, new Date(Date.now() + later)),
    );
    nats.publish(
      auditSubject({ service: 'token', type: 'token.issued' }),
      [second, first].map((event) => JSON.stringify(event)).join('\n'),
    );
    await nats.flush();
    expect(await read({ clientId: 'together' })).toEqual([first, second]);
  });

  it('merges activity and refusals by time', async () => {
    const [first, second, third] = [1, 2, 3].map((later) => new Date(Date.now() + later));
    await store({ type: 'token.issued', client_id: 'merged' }, first);
    await store({ type: 'token.refreshed', client_id: 'merged' }, third);
    await store({ type: 'request.refused', client_id: 'merged' }, second);
    const types = (await read({ clientId: 'merged' })).map(({ type }) => type);
    expect(types).toEqual(['token.issued', 'request.refused', 'token.refreshed']);
  });

  it('filters by type, user, grant, reference and time', async () => {
    const before = await store({ type: 'token.issued', client_id: 'filtered', user_id: 7, grant_id: 'g' });
    const refused = await store({
      type: 'request.refused',
      client_id: 'filtered',
      reference: 'abcdefghijkl',
    });
    const allowed = await store(
      { type: 'consent.allowed', client_id: 'filtered', user_id: 8 },
      new Date(Date.now() + 5),
    );
    const found = (filter: AuditFilter) => read({ clientId: 'filtered', ...filter });
    expect(await found({ types: typesNamed('token') })).toEqual([before]);
    expect(await found({ types: ['token.issued', 'consent.allowed'] })).toEqual([before, allowed]);
    expect(await found({ types: ['request.refused'] })).toEqual([refused]);
    expect(await found({ userId: 7 })).toEqual([before]);
    expect(await found({ grantId: 'g' })).toEqual([before]);
    expect(await found({ reference: 'abcdefghijkl' })).toEqual([refused]);
    expect(await found({ since: new Date(allowed.time) })).toEqual([allowed]);
    expect(await found({ until: new Date(before.time) })).toEqual([]);
  });

  it('ignores other messages on its subjects', async () => {
    nats.publish('oauth.activity.token.token.issued', 'not JSON');
    nats.publish('oauth.activity.token.token.issued', 'null');
    const event = await store({ type: 'token.issued', client_id: 'among others' });
    expect(await read({ clientId: 'among others' })).toEqual([event]);
  });

  it('ignores an event with a field of a wrong type, which would break every search', async () => {
    const malformed: object[] = [
      { time: '2026-99-99T99:99:99.999Z' },
      { id: 1 },
      { service: null },
      { client_id: {} },
      { user_id: '7' },
      { status: '400' },
      { reference: 1 },
      { check: ['a'] },
      { request: {} },
      { request: null },
      { detail: null },
      { detail: 'text' },
      { detail: nested(100) },
      { unknown: nested(100) },
    ];
    for (const fields of malformed) {
      const event = auditEvent('token', { type: 'token.issued', grant_id: 'malformed' });
      nats.publish(
        auditSubject({ service: 'token', type: 'token.issued' }),
        JSON.stringify({ ...event, ...fields }),
      );
    }
    const events = Array.from({ length: 2_000 }, () =>
      auditEvent('token', { type: 'token.issued', grant_id: 'malformed' }),
    );
    for (const event of events)
      nats.publish(auditSubject({ service: 'token', type: 'token.issued' }), JSON.stringify(event));
    await nats.flush();
    expect(await read({ grantId: 'malformed' })).toEqual(events);
  });

  it('ignores an event whose service or type differs from its subject', async () => {
    const forged = auditEvent('operator', {
      type: 'operator.command',
      client_id: 'forged',
      operator: 'ada@host',
    });
    for (const subject of [
      'oauth.refusal.resource.request.refused',
      'oauth.refusal.resource.operator.command',
    ])
      nats.publish(subject, JSON.stringify(forged));
    const refusal = auditEvent('resource', { type: 'request.refused', client_id: 'forged' });
    const { operator } = forged;
    for (const changed of [{ service: 'operator' }, { service: 'operator', operator }, { operator }])
      nats.publish(auditSubject(refusal), JSON.stringify({ ...refusal, ...changed }));
    nats.publish(
      auditSubject({ service: 'token', type: 'token.issued' }),
      JSON.stringify({ ...forged, service: 'token', operator: undefined, type: 'token.issued', time: '~' }),
    );
    const later = { ...forged, type: 'login.suspected' };
    nats.publish('oauth.audit.operator.login.suspected', JSON.stringify(later));
    await store({ type: 'token.issued' });
    expect(await read({ clientId: 'forged' })).toEqual([later]);
  });

  it.each([
    ['operator', 'client.created', 'token', 'user.updated'],
    ['operator', 'client.deleted', 'authorize', 'token_key.changed'],
    ['authorize', 'login.succeeded', 'token', 'token.refreshed'],
    ['token', 'token.issued', 'authorize', 'consent.allowed'],
    ['token', 'request.refused', 'resource', 'request.refused'],
  ] as const)('keeps an event of %s (%s) during a flood of events of %s (%s)', async (...row) => {
    const [service, type, flooding, flood] = row;
    await ensureAuditStreams(nats, { days: 7, megabytes: 8, replicas: 1 });
    const kept = auditEvent(service, { type, client_id: `kept from ${flood}` });
    await storeEvent(nats, kept);
    const subject = auditSubject({ service: flooding, type: flood });
    const large = JSON.stringify(auditEvent(flooding, { type: flood, description: 'x'.repeat(100_000) }));
    for (let n = 0; n < 200; n++) nats.publish(subject, large);
    await nats.flush();
    const stream = await (await jetstreamManager(nats)).streams.find(subject);
    const full = (await reader.streams()).find((candidate) => candidate.stream === stream);
    expect(full?.messages).toBeLessThan(200);
    expect(await read({ clientId: `kept from ${flood}`, types: [type] })).toEqual([kept]);
  });

  it('does not permit purges or deletions of events, even by the administrator', async () => {
    const event = await store({ type: 'client.created', client_id: 'kept' });
    const { streams } = await jetstreamManager(nats);
    for (const { name } of AUDIT_STREAMS) {
      await expect(streams.purge(name)).rejects.toThrow(/not permitted/);
      await expect(streams.deleteMessage(name, 1)).rejects.toThrow(/not permitted/);
    }
    expect(await read({ clientId: 'kept' })).toEqual([event]);
  });

  it('returns stored and new events of several streams to a follower', async () => {
    const stored = await store({ type: 'token.issued', client_id: 'followed' });
    const seen: AuditEvent[] = [];
    const end = new AbortController();
    const bothArrived = new Promise<void>((resolve) => {
      const filter = { clientId: 'followed', since: new Date(stored.time) };
      void reader.follow(filter, end.signal, (event) => seen.push(event) === 3 && resolve()).finally(resolve);
    });
    const issued = await store({ type: 'token.refreshed', client_id: 'followed' });
    const refused = await store({ type: 'request.refused', client_id: 'followed' });
    await bothArrived;
    end.abort();
    expect(new Set(seen.map(({ id }) => id))).toEqual(new Set([stored.id, issued.id, refused.id]));
  });

  it('gets the configured limits, even from concurrent calls', async () => {
    await ensureAuditStreams(nats, { days: 30, megabytes: 16, replicas: 1 });
    await Promise.all([1, 2, 3].map(() => ensureAuditStreams(nats, { days: 7, megabytes: 8, replicas: 1 })));
    const limits = { maxAgeDays: 7, replicas: 1 };
    expect(await reader.streams()).toMatchObject([
      { stream: 'OAUTH_AUDIT_OPERATOR', maxBytes: 1024 ** 2, ...limits },
      { stream: 'OAUTH_AUDIT_TOKEN', maxBytes: 1024 ** 2, ...limits },
      { stream: 'OAUTH_AUDIT_AUTHORIZE', maxBytes: 1024 ** 2, ...limits },
      { stream: 'OAUTH_AUDIT_DEVELOPERS', maxBytes: 1024 ** 2, ...limits },
      { stream: 'OAUTH_ACTIVITY_TOKEN', maxBytes: 8 * 1024 ** 2, ...limits },
      { stream: 'OAUTH_ACTIVITY_AUTHORIZE', maxBytes: 1024 ** 2, ...limits },
      { stream: 'OAUTH_ACTIVITY_OPERATOR', maxBytes: 1024 ** 2, ...limits },
      { stream: 'OAUTH_REFUSALS_AUTHORIZE', maxBytes: 1024 ** 2, ...limits },
      { stream: 'OAUTH_REFUSALS_TOKEN', maxBytes: 1024 ** 2, ...limits },
      { stream: 'OAUTH_REFUSALS_RESOURCE', maxBytes: 1024 ** 2, ...limits },
      { stream: 'OAUTH_REFUSALS_OPERATOR', maxBytes: 1024 ** 2, ...limits },
    ]);
  });
});

it('AuditReader.read throws if NATS dies during the read and does not restart', async () => {
  const server = await RestartableNats.start();
  const nats = await connect({ servers: server.url });
  await ensureAuditStreams(nats, { days: 1, megabytes: 8, replicas: 1 });
  const storeSome = () =>
    Array.from({ length: 100 }, () => storeEvent(nats, auditEvent('token', { type: 'token.issued' })));
  // Storing 2,000 events concurrently can exceed the timeout of a single event.
  for (let round = 0; round < 20; round++) await Promise.all(storeSome());
  await nats.close();
  const { reader, close } = await openAuditReader(server.url);
  let killed: Promise<void> | undefined;
  const readAll = async () => {
    for await (const _ of reader.read({}, () => void (killed ??= server.kill())));
  };
  try {
    await expect(readAll()).rejects.toThrow('NATS');
  } finally {
    await close();
    await server.stop();
  }
});
