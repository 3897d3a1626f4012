import { once } from 'node:events';
import { createServer } from 'node:net';
import { DataSource } from 'typeorm';
import { NestFactory } from '@nestjs/core';
import type { Pool } from 'pg';
import { databaseDataSource, requestLimits } from '#database/data-source.js';
import { isTransient } from '#platform/postgres/postgres-errors.js';
import { failedRequest } from '#platform/http/failed-request.js';
import { onCalls, OUTGOING } from '#platform/telemetry/calls.js';
import { PATIENT_MS } from '#test/support/app-settings.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { until } from '#test/support/until.js';
import { ClientEntity } from '#clients/client.entity.js';
import { ClientStore } from '#clients/client.store.js';
import { DatabaseHealth, DatabaseModule } from '#database/database.module.js';
import { GrantRecordStore } from '#grants/records/grant-record.store.js';
import { UserStore } from '#users/user.store.js';
import { freePort } from '#local/servers/free-port.js';

describe('connections', () => {
  interface Prepared {
    statement: string;
    runs: number;
  }

  let services: Isolated;

  beforeAll(async () => {
    services = await isolate();
  });

  afterAll(() => services.close());

  describe('a statement with values', () => {
    let source: DataSource;

    beforeAll(async () => {
      source = await open(1);
    });

    const open = (poolSize: number) =>
      databaseDataSource(services.databaseUrl, { ...requestLimits(PATIENT_MS), poolSize }).initialize();

    afterAll(async () => {
      await source.destroy();
    });

    const sum = (n: number, pool = source) => pool.query<unknown>('SELECT $1::int + 1 AS sum', [n]);
    const prepared = (pool = source) =>
      pool.query<Prepared[]>(
        'SELECT statement, (generic_plans + custom_plans)::int AS runs FROM pg_prepared_statements',
      );

    it('is parsed once per connection, and runs with each value', async () => {
      expect(await sum(1)).toEqual([{ sum: 2 }]);
      expect(await sum(2)).toEqual([{ sum: 3 }]);
      expect(await prepared()).toEqual([{ statement: 'SELECT $1::int + 1 AS sum', runs: 2 }]);
    });

    it('is traced with the outcome of each run, even for concurrent runs on two connections', async () => {
      const outcomes: string[] = [];
      const [, channel] = OUTGOING;
      if (!channel) throw new Error('statements have no channel');
      const unsubscribe = onCalls(channel, ({ target }) => (failed) => {
        if (target === 'pg_sleep') outcomes.push(failed ? 'failed' : 'ok');
      });
      const two = await open(2);
      const invert = (n: number) => two.query('SELECT 1 / $1::int FROM pg_sleep(0.1)', [n]);
      await Promise.all([invert(1), invert(1)]);
      await expect(invert(0)).rejects.toThrow('division by zero');
      await invert(1);
      unsubscribe();
      await two.destroy();
      expect(outcomes).toEqual(['ok', 'ok', 'failed', 'ok']);
    });

    it('is prepared only for the first 200 different texts', async () => {
      for (let n = 0; n < 300; n++) await source.query(`SELECT $1::int + ${n}`, [n]);
      const { length } = await prepared();
      // Other statements of this pool are also prepared.
      expect(length).toBeGreaterThan(150);
      expect(length).toBeLessThanOrEqual(200);
    });

    // Runs last, because this test disables prepared statements for the pool.
    it('is retried unprepared after a connection pooler loses it, and disables preparation for the pool', async () => {
      await source.query('DEALLOCATE ALL');
      expect(await sum(3)).toEqual([{ sum: 4 }]);
      expect(await sum(4)).toEqual([{ sum: 5 }]);
      expect(await prepared()).toEqual([]);
      const other = await open(1);
      await sum(5, other);
      expect(await prepared(other)).toHaveLength(1);
      await other.destroy();
    });
  });

  describe('a prepared statement that a connection pooler has lost', () => {
    it('is reported as a lost connection in a transaction, which the caller can restart', async () => {
      const limits = { ...requestLimits(PATIENT_MS), poolSize: 1 };
      const source = await databaseDataSource(services.databaseUrl, limits).initialize();
      const sum = (deallocates: boolean) =>
        source.transaction(async (manager) => {
          if (deallocates) await manager.query('DEALLOCATE ALL');
          return manager.query<unknown>('SELECT $1::int + 1 AS sum', [1]);
        });
      expect(await sum(false)).toEqual([{ sum: 2 }]);
      const error: unknown = await sum(true).catch((thrown: unknown) => thrown);
      expect(isTransient(error)).toBe(true);
      expect(failedRequest(error)).toMatchObject({ status: 503, detail: { dependency: 'postgres' } });
      expect(await sum(false)).toEqual([{ sum: 2 }]);
      await source.destroy();
    });
  });

  describe('a data source that connects on use', () => {
    const LIMITS = { ...requestLimits(PATIENT_MS), poolSize: 3 };
    const three = (source: DataSource, statement: (n: number) => string) =>
      Promise.allSettled([1, 2, 3].map((n) => source.query<unknown>(statement(n))));

    it('connects once, for the first statements', async () => {
      let connections = 0;
      const source = databaseDataSource(services.databaseUrl, LIMITS);
      await source.connectOnUse(() => {
        connections += 1;
        return source.initialize();
      });
      const clients = source.getRepository(ClientEntity).createQueryBuilder('client');
      expect(connections).toBe(0);
      const [count, ...numbers] = await Promise.all([
        clients.getCount(),
        three(source, (n) => `SELECT ${n} AS number`),
      ]);
      expect(count).toBe(0);
      expect(numbers).toMatchObject([[1, 2, 3].map((number) => ({ value: [{ number }] }))]);
      expect(connections).toBe(1);
      await source.close();
      expect(source.isInitialized).toBe(false);
    });

    it('executes no statement if the schema is another one', async () => {
      const overridden = `${services.databaseUrl}?options=-c%20search_path%3Dpublic`;
      const source = databaseDataSource(overridden, LIMITS);
      await source.connectOnUse(() => source.initialize());
      const results = await three(source, (n) => `CREATE TABLE unwanted_${n} ()`);
      expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
      await source.close();
      const other = await databaseDataSource(services.databaseUrl, LIMITS).initialize();
      expect(await other.query("SELECT FROM pg_tables WHERE tablename LIKE 'unwanted%'")).toEqual([]);
      await other.destroy();
    });

    it('closes after an attempt to connect has ended', async () => {
      const source = databaseDataSource(services.databaseUrl, LIMITS);
      await source.connectOnUse(() => source.initialize());
      const statement = source.query('SELECT 1').catch(() => undefined);
      await source.close();
      await statement;
      expect(source.isInitialized).toBe(false);
    });
  });

  it('a connection is not reused after its server becomes read-only', async () => {
    const limits = { ...requestLimits(PATIENT_MS), poolSize: 1 };
    const source = await databaseDataSource(services.databaseUrl, limits).initialize();
    try {
      await source.query('CREATE TABLE notes (text text)');
      // Simulates a primary that was demoted to a standby.
      await source.query('SET default_transaction_read_only = on');
      await expect(source.query("INSERT INTO notes VALUES ('x')")).rejects.toMatchObject({
        name: 'DependencyUnavailableError',
        dependency: 'postgres',
        cause: { code: '25006' },
      });
      await expect(source.query("INSERT INTO notes VALUES ('x')")).resolves.toEqual([]);
    } finally {
      await source.destroy();
    }
  });

  describe('connections to PostgreSQL', () => {
    let network: FaultProxy;

    beforeAll(async () => {
      network = await FaultProxy.start(services.databaseUrl);
    });

    afterAll(async () => {
      await network.close();
    });

    // @reliability postgresql-slow
    it('are replaced if they stop responding without closing', async () => {
      const limits = { ...requestLimits(PATIENT_MS), poolSize: 3, statementTimeoutMs: 2_000 };
      const source = await databaseDataSource(network.url, limits).initialize();
      const threeConcurrently = () => Promise.allSettled([1, 2, 3].map(() => source.query('SELECT 1')));
      const statuses = async () => (await threeConcurrently()).map(({ status }) => status);
      // Retried, because on a busy machine a query may still time out.
      const served = () =>
        until('all three are answered', 60_000, async () =>
          (await statuses()).every((status) => status === 'fulfilled'),
        );
      try {
        await served();
        network.silence('existing');
        expect(await statuses()).toEqual(['rejected', 'rejected', 'rejected']);
        await served();
      } finally {
        network.cut();
        await source.destroy();
      }
    });
  });
});

describe('DatabaseModule', () => {
  let isolated: Isolated;
  const open: { close(): unknown }[] = [];

  beforeAll(async () => {
    isolated = await isolate();
  });
  afterEach(async () => {
    for (const resource of open.splice(0).toReversed()) await resource.close();
  });
  afterAll(() => isolated.close());

  const start = async (options: Parameters<typeof DatabaseModule.forRoot>[0]) => {
    const app = await NestFactory.createApplicationContext(DatabaseModule.forRoot(options), {
      logger: false,
      abortOnError: false,
    });
    open.push(app);
    return app;
  };

  /** @param port outside the ephemeral range, because the test closes and reopens it */
  const startProxy = async (port?: number) => {
    const proxy = await FaultProxy.start(isolated.databaseUrl, port ?? (await freePort()));
    open.push(proxy);
    return proxy;
  };

  it('provides the stores', async () => {
    const app = await start({ databaseUrl: isolated.databaseUrl });
    expect(await app.get(ClientStore).find('sc_none')).toBeNull();
    expect(await app.get(UserStore).findByLogin('nobody')).toBeNull();
    expect(await app.get(GrantRecordStore).find('nothing')).toBeNull();
    await expect(app.get(DatabaseHealth).ping()).resolves.toBeUndefined();
  });

  it('waits for a database that has not started yet', async () => {
    const proxy = await startProxy();
    await proxy.close();
    const port = Number(new URL(proxy.url).port);
    const refusing = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1');
    await once(refusing, 'listening');
    const app = start({ databaseUrl: proxy.url, retryForMs: 60_000 });
    await once(refusing, 'connection');
    refusing.close();
    await once(refusing, 'close');
    await startProxy(port);
    await expect((await app).get(DatabaseHealth).ping()).resolves.toBeUndefined();
  });

  it('fails after the time limit, naming the server but not the password', async () => {
    const proxy = await startProxy();
    await proxy.close();
    const url = new URL(proxy.url);
    const error = await start({ databaseUrl: url.href, retryForMs: 300 }).catch((error: unknown) => error);
    expect(String(error)).toContain(url.host);
    expect(String(error)).toContain('check DATABASE_URL');
    expect(String(error)).not.toContain(url.password);
  });

  it('does not retry if the database does not exist', async () => {
    const url = new URL(isolated.databaseUrl);
    url.pathname = '/no_such_database';
    await expect(start({ databaseUrl: url.href, retryForMs: 3_600_000 })).rejects.toThrow('no_such_database');
  });

  it('opens a new connection after a connection is lost', async () => {
    const proxy = await startProxy();
    const app = await start({ databaseUrl: proxy.url });
    const health = app.get(DatabaseHealth);
    await health.ping();
    const { master: pool } = app.get(DataSource).driver as unknown as { master: Pool };
    const noticed = once(pool, 'remove');
    proxy.cut();
    await noticed;
    await expect(health.ping()).resolves.toBeUndefined();
  });

  it('closes its connections with the application', async () => {
    const app = await start({ databaseUrl: isolated.databaseUrl });
    const health = app.get(DatabaseHealth);
    await app.close();
    await expect(health.ping()).rejects.toThrow();
  });
});
