import { databaseDataSource, requestLimits } from '#database/connection/data-source.js';
import { isTransient } from '#database/connection/errors.js';
import { failedRequest } from '#platform/http/failed-request.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { PATIENT_MS } from '#test/support/app-settings.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { until } from '#test/support/until.js';

describe('a prepared statement that a connection pooler has lost', () => {
  it('is reported as a lost connection in a transaction, which the caller can restart', async () => {
    const services = await isolate();
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
    await services.close();
  });
});

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
  let services: Isolated;
  let network: FaultProxy;

  beforeAll(async () => {
    services = await isolate();
    network = await FaultProxy.start(services.databaseUrl);
  });

  afterAll(async () => {
    await network.close();
    await services.close();
  });

  it('are replaced after they become silent without closing', async () => {
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
