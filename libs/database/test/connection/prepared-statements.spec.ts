import type { DataSource } from 'typeorm';
import { databaseDataSource, requestLimits } from '#database/connection/data-source.js';
import { onCalls, OUTGOING } from '#platform/telemetry/calls.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { PATIENT_MS } from '#test/support/app-settings.js';

interface Prepared {
  statement: string;
  runs: number;
}

describe('a statement with values', () => {
  let services: Isolated;
  let source: DataSource;

  beforeAll(async () => {
    services = await isolate();
    source = await open(1);
  });

  const open = (poolSize: number) =>
    databaseDataSource(services.databaseUrl, { ...requestLimits(PATIENT_MS), poolSize }).initialize();

  afterAll(async () => {
    await source.destroy();
    await services.close();
  });

  const sum = (n: number, pool = source) => pool.query<unknown>('SELECT $1::int + 1 AS sum', [n]);
  const prepared = (pool = source) =>
    pool.query<Prepared[]>(
      'SELECT statement, (generic_plans + custom_plans)::int AS runs FROM pg_prepared_statements',
    );

  it('is parsed once per connection, and run with each value', async () => {
    expect(await sum(1)).toEqual([{ sum: 2 }]);
    expect(await sum(2)).toEqual([{ sum: 3 }]);
    expect(await prepared()).toEqual([{ statement: 'SELECT $1::int + 1 AS sum', runs: 2 }]);
  });

  it('is measured with its own outcome for each run, even concurrent runs on two connections', async () => {
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

  it('is not prepared after 200 different texts', async () => {
    for (let n = 0; n < 300; n++) await source.query(`SELECT $1::int + ${n}`, [n]);
    const { length } = await prepared();
    // Other statements of this pool are also prepared.
    expect(length).toBeGreaterThan(150);
    expect(length).toBeLessThanOrEqual(200);
  });

  // Runs last: it disables prepared statements for the pool.
  it('is retried unprepared after a connection pooler loses it, as are all later statements of the pool', async () => {
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
