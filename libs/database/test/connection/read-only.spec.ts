import { databaseDataSource, requestLimits } from '#database/connection/data-source.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { PATIENT_MS } from '#test/support/app-settings.js';

let services: Isolated;

beforeAll(async () => {
  services = await isolate();
});

afterAll(() => services.close());

it('a connection is not reused after its server becomes read-only', async () => {
  const limits = { ...requestLimits(PATIENT_MS), poolSize: 1 };
  const source = await databaseDataSource(services.databaseUrl, limits).initialize();
  try {
    await source.query('CREATE TABLE notes (text text)');
    // Like a primary that was demoted to a standby.
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
