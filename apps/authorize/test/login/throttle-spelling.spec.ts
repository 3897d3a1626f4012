import { databaseDataSource, requestLimits } from '#database/connection/data-source.js';
import { isolate } from '#test/support/isolate.js';
import { PATIENT_MS } from '#test/support/app-settings.js';
import { normalizeLogin } from '../../src/login/throttle/login-throttle.service.js';

it('the throttle treats two letters as equal if PostgreSQL does so in any collation', async () => {
  const services = await isolate();
  const dataSource = await databaseDataSource(services.databaseUrl, requestLimits(PATIENT_MS)).initialize();
  try {
    const collations = await dataSource.query<{ name: string }[]>(
      `select distinct collname as name from pg_collation
       where collname in ('C', 'C.utf8', 'en_US.utf8', 'pg_c_utf8', 'pg_unicode_fast', 'und-x-icu', 'tr-x-icu', 'lt-x-icu')`,
    );
    for (const { name } of collations) {
      const rows = await dataSource.query<{ letter: string; lower: string }[]>(
        `select chr(n) as letter, lower(chr(n) collate "${name}") as lower from generate_series(33, 195103) n
         where n not between 55296 and 57343 and chr(n) <> lower(chr(n) collate "${name}")`,
      );
      expect(rows.length).toBeGreaterThan(name === 'C' ? 25 : 1_000);
      const apart = rows.filter(
        ({ letter, lower }) => normalizeLogin(`x${letter}y`) !== normalizeLogin(`x${lower}y`),
      );
      expect([name, apart]).toEqual([name, []]);
    }
    expect(collations.length).toBeGreaterThan(1);
  } finally {
    await dataSource.destroy();
    await services.close();
  }
});

it.each([
  ['İ', 'i'],
  ['K', 'k'],
  ['Σ', 'ς'],
  ['ẞ', 'ß'],
  ['ａ', 'A'],
])('the throttle counts %s as %s', (one, other) => {
  expect(normalizeLogin(` a${one}b`)).toBe(normalizeLogin(`a${other}b `));
});
