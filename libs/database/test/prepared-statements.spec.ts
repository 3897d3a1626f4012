import type { DataSource } from 'typeorm';
import { databaseDataSource, requestLimits } from '#database/connection/data-source.js';
import { type Isolated, isolate } from '#testing/isolate.js';
import { PATIENT_MS } from '#testing/patience.js';

interface Prepared {
  statement: string;
  runs: number;
}

describe('a statement with values', () => {
  let services: Isolated;
  let source: DataSource;

  beforeAll(async () => {
    services = await isolate();
    const limits = { ...requestLimits(PATIENT_MS), poolSize: 1 };
    source = await databaseDataSource(services.databaseUrl, limits).initialize();
  });

  afterAll(async () => {
    await source.destroy();
    await services.close();
  });

  const sum = (n: number) => source.query<unknown>('SELECT $1::int + 1 AS sum', [n]);
  const prepared = () =>
    source.query<Prepared[]>(
      'SELECT statement, (generic_plans + custom_plans)::int AS runs FROM pg_prepared_statements',
    );

  it('is parsed once per connection, and run with each value', async () => {
    expect(await sum(1)).toEqual([{ sum: 2 }]);
    expect(await sum(2)).toEqual([{ sum: 3 }]);
    expect(await prepared()).toEqual([{ statement: 'SELECT $1::int + 1 AS sum', runs: 2 }]);
  });

  it('is prepared for 200 different texts at most', async () => {
    for (let n = 0; n < 300; n++) await source.query(`SELECT $1::int + ${n}`, [n]);
    const { length } = await prepared();
    // The rest are other statements of this process.
    expect(length).toBeGreaterThan(150);
    expect(length).toBeLessThanOrEqual(200);
  });

  // Last: it ends preparing for the process.
  it('is repeated unprepared when a connection pooler has lost it, and so are all later ones', async () => {
    await source.query('DEALLOCATE ALL');
    expect(await sum(3)).toEqual([{ sum: 4 }]);
    expect(await sum(4)).toEqual([{ sum: 5 }]);
    expect(await prepared()).toEqual([]);
  });
});
