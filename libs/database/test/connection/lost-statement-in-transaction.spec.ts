import { databaseDataSource, requestLimits } from '#database/connection/data-source.js';
import { isTransient } from '#database/connection/errors.js';
import { failedRequest } from '#platform/http/failed-request.js';
import { isolate } from '#test/support/isolate.js';
import { PATIENT_MS } from '#test/support/app-settings.js';

// In a separate file, because it disables prepared statements for the process.
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
