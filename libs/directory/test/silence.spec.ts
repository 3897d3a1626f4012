import { directoryDataSource, REQUEST_LIMITS } from '#directory/data-source.js';
import { Interposer } from '#testing/interposer.js';
import { type Isolated, isolate } from '#testing/isolate.js';

describe('connections to PostgreSQL', () => {
  let services: Isolated;
  let network: Interposer;

  beforeAll(async () => {
    services = await isolate();
    network = await Interposer.to(services.databaseUrl);
  });

  afterAll(async () => {
    network.close();
    await services.close();
  });

  it('are made anew when they fall silent without being closed', async () => {
    // Of a busy machine some statements take hundreds of milliseconds; the silent ones take all of it.
    const limits = { ...REQUEST_LIMITS, poolSize: 3, statementTimeoutMs: 2_000 };
    const source = await directoryDataSource(network.url, limits).initialize();
    const threeAtOnce = () => Promise.allSettled([1, 2, 3].map(() => source.query('SELECT 1')));
    const statuses = async () => (await threeAtOnce()).map(({ status }) => status);
    try {
      expect(await statuses()).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
      network.silence();
      expect(await statuses()).toEqual(['rejected', 'rejected', 'rejected']);
      expect(await statuses()).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
    } finally {
      network.cut();
      await source.destroy();
    }
  });
});
