import { randomBytes } from 'node:crypto';
import { type INestApplicationContext } from '@nestjs/common';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { DataSource, type EntityManager } from 'typeorm';
import { AuditIndexer } from '#audit/operations/index/audit-indexer.js';
import { AuditService } from '#audit/operations/audit.service.js';
import { ClientHistoryService } from '#audit/operations/explain/client-history.service.js';
import { ExplainService } from '#audit/operations/explain/explain.service.js';
import {
  auditEvent,
  type AuditEvent,
  type AuditRecord,
  type AuditedApp,
  auditSubject,
} from '#audit/event.js';
import { AuditIndexStore } from '#audit/index/audit-index.store.js';
import { addRefused, type NewRefusedRequest } from '#audit/index/refused-request.store.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { createTrail, type Isolated } from '#test/support/isolate.js';
import { type Administration, openAdministration } from '../../../operations/test/support/administration.js';

const [CLIENT, OTHER] = ['sc_aaaaaaaaaaaaaaaaaaaaaaaa', 'sc_bbbbbbbbbbbbbbbbbbbbbbbb'];
const GRANT = 'g'.repeat(43);

let administration: Administration;
let services: Isolated;
let context: INestApplicationContext;
let nats: NatsConnection;
let indexer: AuditIndexer;
let audit: AuditService;

beforeAll(async () => {
  administration = await openAdministration();
  ({ services, context } = administration);
  nats = await connect(natsOptions(services.natsUrl, 'index test'));
  [indexer, audit] = [context.get(AuditIndexer), context.get(AuditService)];
  for (const id of [CLIENT, OTHER])
    await sql(
      `INSERT INTO clients (client_id, name, type, redirect_uris, scopes) VALUES ($1, $2, 'public', '{https://a.example}', '{profile:read}')`,
      [id, `Client ${id}`],
    );
});

async function emptyTrailAndIndex(): Promise<void> {
  const { streams } = await jetstreamManager(nats);
  for await (const { config } of streams.list())
    if (config.name.startsWith('OAUTH_')) await streams.delete(config.name);
  await createTrail(services.natsUrl, { days: 2, megabytes: 64, replicas: 1 });
  await sql('DELETE FROM audit_chunks');
  await sql('DELETE FROM audit_counts');
  await sql('DELETE FROM refused_requests');
}

afterAll(async () => {
  await nats.close();
  await administration.close();
});

const sql = <Row>(text: string, values: unknown[] = []) =>
  context.get(DataSource, { strict: false }).query<Row[]>(text, values);

/** Stores events of one type and service as one message. */
async function store(
  service: AuditedApp,
  records: readonly AuditRecord[],
  time = new Date(),
): Promise<AuditEvent[]> {
  const events = records.map((record) => auditEvent(service, record, time));
  const [first] = events;
  if (first)
    await jetstream(nats).publish(
      auditSubject(first),
      events.map((event) => JSON.stringify(event)).join('\n'),
    );
  return events;
}

/**
 * Stores events of several clients, users, types and services.
 * @param messages number of messages, of 20 events each
 */
async function storeMany(messages: number): Promise<AuditEvent[]> {
  const kinds = [
    ['token', 'token.refreshed'],
    ['token', 'request.refused'],
    ['authorize', 'consent.allowed'],
  ] as const;
  const stored: AuditEvent[] = [];
  for (let n = 0; n < messages; n++) {
    const [service, type] = kinds[n % 3] ?? kinds[0];
    const check = type === 'request.refused' ? { check: 'code_expired', error: 'invalid_grant' } : {};
    const records = Array.from({ length: 20 }, (_, i): AuditRecord => ({
      type,
      ...check,
      reference: randomBytes(9).toString('base64url'),
      client_id: i % 2 === 0 ? CLIENT : OTHER,
      user_id: (n * 20 + i) % 97,
    }));
    stored.push(...(await store(service, records)));
  }
  return stored;
}

/** Node of a plan of PostgreSQL. */
interface Plan {
  readonly 'Actual Loops'?: number;
  readonly 'Actual Rows'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly Plans?: readonly Plan[];
}

/** Returns the number of rows that all steps of a plan have processed. */
function rowsOf(node: Plan): number {
  const rows = (node['Actual Rows'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
  return (node['Actual Loops'] ?? 0) * rows + (node.Plans ?? []).reduce((sum, part) => sum + rowsOf(part), 0);
}

const withStore = (index: Pick<AuditIndexStore, 'append'>) =>
  new AuditIndexer(Reflect.get(indexer, 'trail'), index as AuditIndexStore, Reflect.get(indexer, 'options'));

async function indexAll(target = indexer): Promise<void> {
  while (await target.indexNew());
}

async function idsOf(filter: object, limit = 50): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | undefined; ;) {
    const { items, next } = await audit.page({ ...filter, limit, cursor });
    ids.push(...items.map(({ id }) => id));
    if (next === null) return ids;
    cursor = next;
  }
}

async function oldest(filter: object) {
  let page = await audit.page(filter);
  while (page.next !== null) page = await audit.page({ ...filter, cursor: page.next });
  return page;
}

const counted = async () => {
  const [row] = await sql<{ sum: string | null }>('SELECT sum(count) AS sum FROM audit_counts');
  return Number(row?.sum ?? 0);
};

describe('a search of a trail of which the newest events are not indexed', () => {
  let early: AuditEvent[];
  let late: AuditEvent[];

  beforeAll(async () => {
    await emptyTrailAndIndex();
    early = await storeMany(160);
    await indexAll();
    late = await storeMany(5);
  });

  it.each([
    ['no filter', {}, () => true],
    ['a user', { user: 'id:13' }, (event: AuditEvent) => event.user_id === 13],
    ['an application', { client: OTHER }, (event: AuditEvent) => event.client_id === OTHER],
    ['a type', { types: ['request.refused'] }, (event: AuditEvent) => event.type === 'request.refused'],
    ['an unknown user', { user: 'id:5000' }, () => false],
  ])('returns every matching event once, newest first, in pages: %s', async (_, filter, isWanted) => {
    const found = await idsOf(filter, 200);
    const expected = [...early, ...late].filter(isWanted).map(({ id }) => id);
    expect(found.toSorted()).toEqual(expected.toSorted());
    const times = new Map([...early, ...late].map(({ id, time }) => [id, time]));
    const inOrder = found.map((id) => times.get(id) ?? '');
    expect(inOrder).toEqual(inOrder.toSorted().toReversed());
    expect(await sql('SELECT 1 FROM audit_chunks')).toHaveLength(3);
  });

  it.each([7, 50])('returns each page again from its following page: %i events a page', async (limit) => {
    const pages: string[][] = [];
    const filter = { user: 'id:13', limit };
    const read = async (cursor: string | null) => {
      const page = await audit.page({ ...filter, ...(cursor !== null && { cursor }) });
      return { ...page, ids: page.items.map(({ id }) => id) };
    };
    let page = await read(null);
    expect(page.previous).toBeNull();
    for (; page.next !== null; page = await read(page.next)) pages.push(page.ids);
    for (const ids of pages.toReversed()) {
      page = await read(page.previous);
      expect(page.ids).toEqual(ids);
    }
    expect(page.previous).toBeNull();
  });
});

describe('a search with the index', () => {
  beforeEach(emptyTrailAndIndex);

  it('returns a page again whose events were stored in the same millisecond', async () => {
    const stored = await store(
      'token',
      Array.from({ length: 100 }, () => ({ type: 'token.issued', user_id: 1 }) as const),
    );
    const first = await audit.page({ limit: 30 });
    const second = await audit.page({ limit: 30, cursor: first.next ?? '' });
    const third = await audit.page({ limit: 30, cursor: second.next ?? '' });
    const back = await audit.page({ limit: 30, cursor: third.previous ?? '' });
    expect(back.items).toEqual(second.items);
    expect(back).toMatchObject({ next: second.next, previous: second.previous });
    const start = await audit.page({ limit: 30, cursor: back.previous ?? '' });
    expect(start.items.map(({ id }) => id)).toEqual(
      stored
        .slice(-30)
        .toReversed()
        .map(({ id }) => id),
    );
    expect(start.previous).toBeNull();
  });

  it('orders events of the same millisecond by the number in their ids', async () => {
    const time = new Date();
    const events = ['p-z', 'p-10'].map((id) => ({
      ...auditEvent('token', { type: 'token.issued', user_id: 1 }, time),
      id,
    }));
    const lines = events.map((event) => JSON.stringify(event)).join('\n');
    await jetstream(nats).publish('oauth.activity.token.token.issued', lines);
    expect(await idsOf({ user: 'id:1' }, 1)).toEqual(['p-10', 'p-z']);
  });

  it('reads a bounded part of the trail, and continues at the returned position', async () => {
    for (let user = 0; user < 25; user++)
      await store(
        'token',
        Array.from({ length: 1_000 }, () => ({ type: 'token.issued', user_id: user }) as const),
      );
    await indexAll();
    // With every bit set, a filter matches every value.
    await sql("UPDATE audit_chunks SET filter = '\\xffffffffffffffff'");
    const first = await audit.page({ user: 'id:1' });
    expect(first).toMatchObject({ items: [], searchedTo: expect.any(String) as string });
    const second = await audit.page({ user: 'id:1', cursor: first.next ?? '' });
    expect(second.items).toHaveLength(50);
    expect(await idsOf({ user: 'id:1' })).toHaveLength(1_000);
    const back = await audit.page({
      user: 'id:24',
      cursor: (await oldest({ user: 'id:24' })).previous ?? '',
    });
    expect(back).toMatchObject({ items: [], isForward: false, searchedTo: expect.any(String) as string });
    const found = await audit.page({ user: 'id:24', cursor: back.previous ?? '' });
    expect(found.items).toHaveLength(50);
  });

  it('reports that the index is incomplete', async () => {
    for (let n = 0; n < 3_010; n++) nats.publish('oauth.activity.token.token.issued', '');
    await nats.flush();
    await store('token', [{ type: 'token.issued', user_id: 1, reference: 'abcdefghijkl' }]);
    const { items, warnings } = await audit.page({ user: 'id:1' });
    expect(items).toHaveLength(1);
    const isBehind = expect.stringContaining('does not have all events yet') as string;
    expect(warnings).toEqual([isBehind]);
    const explain = context.get(ExplainService);
    expect(await explain.explainIndexed('abcdefghijkl')).toMatchObject({ warnings: [isBehind] });
    await expect(explain.explainIndexed('bbcdefghijkl')).rejects.toMatchObject({
      problems: expect.arrayContaining([
        expect.objectContaining({ values: { warning: isBehind } }),
      ]) as object,
    });
  });

  it('reads a limited number of the newest unindexed events, regardless of the size of messages', async () => {
    for (let user = 0; user < 60; user++)
      await store(
        'token',
        Array.from({ length: 100 }, () => ({ type: 'token.issued', user_id: user }) as const),
      );
    const newest = await audit.page({ user: 'id:59' });
    expect(newest.items).toHaveLength(50);
    expect(newest.warnings).toEqual([expect.stringContaining('does not have all events yet')]);
    expect((await audit.page({ user: 'id:0' })).items).toEqual([]);
  });

  it('finds the same explanation of a reference as a search of the whole trail', async () => {
    const [refused] = await store('token', [
      {
        type: 'request.refused',
        check: 'code_expired',
        error: 'invalid_grant',
        client_id: CLIENT,
        reference: 'abcdefghijkl',
      },
    ]);
    await storeMany(160);
    await indexAll();
    const explain = context.get(ExplainService);
    const whole = await explain.explain('abcdefghijkl');
    let questions = 0;
    const subscription = nats.subscribe('$JS.API.STREAM.INFO.OAUTH_AUDIT_OPERATOR', {
      callback: () => void (questions += 1),
    });
    await nats.flush();
    const indexed = await explain.explainIndexed('"abcdefghijkl"');
    await nats.flush();
    subscription.unsubscribe();
    expect(questions).toBe(1);
    expect(indexed.explanation).toEqual(whole.explanation);
    expect(indexed.explanation.event.id).toBe(refused?.id);
    await expect(explain.explainIndexed('bbcdefghijkl')).rejects.toMatchObject({ kind: 'unknown' });
  });
});

describe('the event counter of the index', () => {
  beforeEach(emptyTrailAndIndex);

  it('counts each event once, even with two indexers and after a failure', async () => {
    await storeMany(160);
    const store = context.get(AuditIndexStore, { strict: false });
    const failing = withStore({
      append: (stream, read) =>
        store.append(stream, async (after) => {
          const batch = await read(after);
          // PostgreSQL rejects the repeated chunks after it has added the counts.
          return batch && { ...batch, chunks: [...batch.chunks, ...batch.chunks] };
        }),
    });
    await expect(failing.indexNew()).rejects.toThrow();
    expect(await counted()).toBe(0);
    const other = withStore(store);
    await Promise.all([indexer, other].map((worker) => indexAll(worker)));
    await indexAll();
    // Each of the three streams has fewer than 1,000 remaining events, which are not indexed yet.
    expect(await counted()).toBe(3_000);
    const history = await context.get(ClientHistoryService).read({ client: CLIENT });
    expect(history.refused + history.succeeded).toBe(1_600);
    expect(history.groups).toMatchObject([{ check: 'code_expired', party: 'application' }]);
  });

  it('indexes the other streams if one stream fails', async () => {
    await storeMany(160);
    const store = context.get(AuditIndexStore, { strict: false });
    const failing = withStore({
      append: (state, read) =>
        state.stream === 'OAUTH_ACTIVITY_AUTHORIZE'
          ? Promise.reject(new Error('a failure'))
          : store.append(state, read),
    });
    await expect(indexAll(failing)).rejects.toThrow('a failure');
    expect(await sql('SELECT DISTINCT stream FROM audit_chunks ORDER BY 1')).toEqual([
      { stream: 'OAUTH_ACTIVITY_TOKEN' },
      { stream: 'OAUTH_REFUSALS_TOKEN' },
    ]);
  });

  it('skips unregistered clients, and finds the client of a refusal that names only a grant', async () => {
    await sql("INSERT INTO users (id, username, email, name) VALUES (1, 'ada', 'ada@example.com', 'Ada')");
    await sql(
      `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, lifetime, expires_at) VALUES ($1, 1, $2, 'profile:read', 'profile:read', '1 day', now() + '1 day')`,
      [GRANT, CLIENT],
    );
    const refused = {
      type: 'request.refused',
      check: 'access_token_inactive',
      error: 'invalid_token',
    } as const;
    const read = () => context.get(ClientHistoryService).read({ client: CLIENT });
    await store('resource', [
      { ...refused, grant_id: GRANT },
      { ...refused, client_id: 'nobody\u0000' },
    ]);
    expect(await read()).toMatchObject({ refused: 1 });
    await store(
      'resource',
      Array.from({ length: 1_000 }, () => ({ ...refused, client_id: 'nobody' })),
    );
    await indexAll();
    expect(await counted()).toBe(1);
    expect(await read()).toMatchObject({ refused: 1 });
  });

  it('skips an event with a type that PostgreSQL cannot store', async () => {
    const event = auditEvent('token', { type: 'token.refreshed', client_id: CLIENT });
    const type = 'refreshed\0';
    await jetstream(nats).publish(`oauth.activity.token.${type}`, JSON.stringify({ ...event, type }));
    await store('token', [{ type: 'token.issued', client_id: CLIENT }]);
    await indexer.indexNew(Date.now() + 2 * 3_600_000);
    expect(await sql('SELECT type FROM audit_counts')).toEqual([{ type: 'token.issued' }]);
  });

  it('counts events by hour and by day, and marks misuse', async () => {
    const at = (time: string) => new Date(time);
    const now = Date.parse('2026-11-23T12:30:00Z');
    await store('token', [{ type: 'token.issued', client_id: CLIENT }], at('2026-11-23T12:10:00Z'));
    await store('token', [{ type: 'token.refreshed', client_id: CLIENT }], at('2026-11-23T11:10:00Z'));
    const reuse = {
      type: 'token.reuse_detected',
      check: 'refresh_token_reused',
      error: 'invalid_grant',
    } as const;
    await store('token', [{ ...reuse, client_id: CLIENT }], at('2026-11-22T11:10:00Z'));
    const read = (since: string) => context.get(ClientHistoryService).read({ client: CLIENT, since }, now);
    const byHour = await read('2026-11-23T11:30Z');
    expect(byHour.unit).toBe('hour');
    expect(byHour.periods).toMatchObject([
      { start: '2026-11-23T11:00:00.000Z', issued: 0, refreshed: 1, misused: 0 },
      { start: '2026-11-23T12:00:00.000Z', issued: 1, refreshed: 0 },
    ]);
    const byDay = await read('2026-11-20');
    expect(byDay.periods.map(({ issued, refreshed, misused }) => [issued, refreshed, misused])).toEqual([
      [0, 0, 0],
      [0, 0, 0],
      [0, 0, 1],
      [1, 1, 0],
    ]);
    expect(byDay.periods[2]?.refused).toEqual({ refresh_token_reused: 1 });
    expect(await indexer.indexNew(Date.now() + 61 * 60_000)).toBe(true);
    await indexer.prune(now + 4 * 86_400_000);
    expect(await sql('SELECT 1 FROM audit_counts')).toHaveLength(3);
    expect(await read('2026-11-20')).toEqual(byDay);
  });
});

describe('the indexer', () => {
  beforeEach(emptyTrailAndIndex);

  it('starts again at the first event of a recreated stream', async () => {
    await storeMany(160);
    await indexAll();
    const { streams } = await jetstreamManager(nats);
    await streams.delete('OAUTH_ACTIVITY_TOKEN');
    await createTrail(services.natsUrl, { days: 2, megabytes: 64, replicas: 1 });
    const [again] = await store('token', [{ type: 'token.refreshed', user_id: 5 }]);
    expect(await idsOf({ user: 'id:5', types: ['token.refreshed'] })).toEqual([again?.id]);
    await indexer.prune();
    expect(await sql("SELECT 1 FROM audit_chunks WHERE stream = 'OAUTH_ACTIVITY_TOKEN'")).toEqual([]);
    expect(await sql('SELECT 1 FROM audit_chunks')).toHaveLength(2);
  });

  it('keeps counts for AUDIT_RETENTION_DAYS', async () => {
    await storeMany(160);
    await indexAll();
    await indexer.prune();
    expect(await counted()).toBe(3_000);
    await indexer.prune(Date.now() + 31 * 86_400_000);
    expect(await counted()).toBe(0);
  });

  it('indexes about 5,000 events at a time, even if each message contains many events', async () => {
    for (let n = 0; n < 80; n++)
      await store(
        'token',
        Array.from({ length: 100 }, () => ({ type: 'token.issued', client_id: CLIENT }) as const),
      );
    expect(await indexer.indexNew()).toBe(true);
    expect(await counted()).toBe(5_000);
    await indexAll();
    expect(await counted()).toBe(8_000);
  });

  it('indexes an incomplete chunk after an hour', async () => {
    await storeMany(3);
    expect(await indexer.indexNew()).toBe(false);
    expect(await indexer.indexNew(Date.now() + 61 * 60_000)).toBe(true);
    expect(await counted()).toBe(60);
  });
});

describe('the refused requests of an application', () => {
  beforeEach(emptyTrailAndIndex);

  const REFUSED = {
    type: 'request.refused',
    check: 'redirect_uri_mismatch',
    error: 'invalid_grant',
    client_id: CLIENT,
    reference: 'Zs0aPq81mT3x',
  } as const satisfies AuditRecord;
  const NEW: NewRefusedRequest = {
    clientId: CLIENT,
    grantId: null,
    event: 'token.1',
    at: new Date(Date.now() - 3 * 3_600_000),
    reference: null,
    cause: 'code_expired',
    error: 'invalid_grant',
    status: 400,
    request: null,
    description: '',
    detail: {},
  };
  const stored = () => sql<Record<string, unknown>>('SELECT * FROM refused_requests ORDER BY cause DESC, id');

  it('are stored without waiting for a chunk, and once', async () => {
    const [event] = await store('token', [REFUSED]);
    await indexer.indexNew();
    expect(await stored()).toMatchObject([
      {
        client_id: CLIENT,
        event: `token.${event?.id}`,
        reference: 'Zs0aPq81mT3x',
        cause: 'redirect_uri_mismatch',
      },
    ]);
    await store('token', [{ ...REFUSED, reference: 'Other0000000' }]);
    await indexer.indexNew();
    await indexer.indexNew(Date.now() + 61 * 60_000);
    expect(await stored()).toHaveLength(2);
  });

  it('are stored by the next run after a failure', async () => {
    await store('token', [REFUSED]);
    const index = context.get(AuditIndexStore, { strict: false });
    let isFailing = true;
    const target = withStore({
      append: (stream, read) =>
        index.append(stream, async (after) => {
          const batch = await read(after);
          if (isFailing) throw new Error('a failure');
          return batch;
        }),
    });
    await expect(target.indexNew()).rejects.toThrow('a failure');
    isFailing = false;
    await target.indexNew();
    expect(await stored()).toHaveLength(1);
  });

  it('have no user, address or value of another client', async () => {
    // Longer than any number in a time.
    const USER = 7_777_777;
    const detail = {
      sent: 'https://a.example/',
      expected: ['https://a.example', 'nul\u0000'],
      trace_id: 'TRACE',
      diagnosis: 'COOKIE',
      user_id: USER,
    };
    await store('token', [
      { ...REFUSED, user_id: USER, address: '192.0.2.7', user_agent: 'AGENT', detail },
      { ...REFUSED, check: 'other_client', detail: { expected: OTHER } },
    ]);
    await store('authorize', [
      { type: 'login.refused', check: 'password_wrong', client_id: CLIENT, user_id: USER },
    ]);
    await indexer.indexNew();
    const rows = await stored();
    expect(rows.map((row) => row['detail'])).toEqual([
      { sent: 'https://a.example/', expected: ['https://a.example', 'nul'] },
      {},
    ]);
    expect(JSON.stringify(rows)).not.toMatch(/7777777|192\.0\.2|AGENT|TRACE|COOKIE|sc_bbbb/);
  });

  it('are never from a service that serves no application', async () => {
    for (const service of ['developers', 'operator'] as const)
      await store(service, [
        { ...REFUSED, type: 'token.reuse_detected', description: 'Pay at evil.example' },
      ]);
    await indexer.indexNew();
    expect(await stored()).toEqual([]);
  });

  it('include calls of an API, which name only the grant', async () => {
    const user = `(SELECT min(id) FROM users)`;
    await sql(
      `INSERT INTO users (email, username, name) VALUES ('u@example.com', 'u', 'U') ON CONFLICT DO NOTHING`,
    );
    await sql(
      `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, expires_at, lifetime)
       SELECT $1, ${user}, $2, '', '', now() + interval '1 day', '1 day' ON CONFLICT DO NOTHING`,
      [GRANT, CLIENT],
    );
    await store('resource', [{ ...REFUSED, client_id: undefined as never, grant_id: GRANT }]);
    await indexer.indexNew();
    expect(await stored()).toMatchObject([{ client_id: CLIENT }]);
  });

  it('are at most 1,000 an hour', async () => {
    for (let n = 0; n < 12; n++)
      await store(
        'token',
        Array.from({ length: 100 }, () => REFUSED),
      );
    await indexer.indexNew();
    expect(await stored()).toHaveLength(1_000);
    expect(await counted()).toBe(1_000);
  });

  it('are added without reading the earlier ones, even if a client has most of them', async () => {
    await sql(
      `INSERT INTO clients (client_id, name, type, redirect_uris, scopes)
       SELECT 'sc_' || n, 'Client ' || n, 'public', '{https://a.example}', '{profile:read}' FROM generate_series(1, 400) n`,
    );
    await sql(
      `INSERT INTO refused_requests (client_id, event, at, reference, cause, error, status, request, description, detail)
       SELECT CASE n % 2 WHEN 0 THEN $1 ELSE 'sc_' || 1 + n % 400 END, 'earlier.' || n, now() - n * interval '1 minute', NULL,
              'code_expired', 'invalid_grant', 400, NULL, '', '{}' FROM generate_series(1, 8000) n`,
      [CLIENT],
    );
    await sql('ANALYZE refused_requests');
    const refused = Array.from({ length: 100 }, (_, n) => ({ ...NEW, event: `token.${n}` }));
    const read = await context.get(DataSource, { strict: false }).transaction(async (manager) => {
      const rowsRead = async (): Promise<number> => {
        const [row] = await manager.query<{ read: string }[]>(
          `SELECT seq_tup_read + idx_tup_fetch AS read FROM pg_stat_xact_user_tables WHERE relname = 'refused_requests'`,
        );
        return Number(row?.read);
      };
      const before = await rowsRead();
      await addRefused(manager, refused);
      return (await rowsRead()) - before;
    });
    // Reads the requests of the same hour once, to count them.
    expect(read).toBeLessThan(100);
  });

  it('are added without comparing each with the hours of all, even if each has another client', async () => {
    await sql(
      `INSERT INTO clients (client_id, name, type, redirect_uris, scopes)
       SELECT 'several_' || n, 'Client ' || n, 'public', '{https://a.example}', '{profile:read}' FROM generate_series(1, 300) n`,
    );
    const refused = Array.from({ length: 300 }, (_, n) => ({ ...NEW, clientId: `several_${n + 1}` }));
    let plan: Plan = {};
    await context.get(DataSource, { strict: false }).transaction(async (manager) => {
      const query = async (text: string, values: unknown[]): Promise<void> => {
        const [row] = await manager.query<{ 'QUERY PLAN': [{ Plan: Plan }] }[]>(
          `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${text}`,
          values,
        );
        plan = row?.['QUERY PLAN'][0].Plan ?? {};
      };
      await addRefused({ query } as unknown as EntityManager, refused);
    });
    expect(await stored()).toHaveLength(300);
    // Each step of the plan processes each event a few times at most.
    expect(rowsOf(plan)).toBeLessThan(30 * 300);
  });

  it('are stored even if one has values that PostgreSQL rejects, which a stolen password of a process can write', async () => {
    const [event] = await store('token', [REFUSED]);
    for (const values of [{ id: 'nul\0' }, { id: 'other', status: 3e9 }])
      await jetstream(nats).publish(
        'oauth.refusal.token.request.refused',
        JSON.stringify({ ...event, ...values }),
      );
    await indexer.indexNew();
    const rows = await stored();
    expect(new Map(rows.map((row) => [row['event'], row['status']]))).toEqual(
      new Map([`token.${event?.id}`, 'token.nul', 'token.other'].map((name) => [name, null])),
    );
  });

  it('are deleted after 30 days', async () => {
    await store('token', [REFUSED], new Date(Date.now() - 31 * 86_400_000));
    await store('token', [REFUSED]);
    await indexer.indexNew();
    expect(await stored()).toHaveLength(2);
    await indexer.prune(Date.now() - 60 * 86_400_000);
    expect(await stored()).toHaveLength(1);
  });
});
