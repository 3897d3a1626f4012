import { databaseDataSource, requestLimits } from '#database/connection/data-source.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { PATIENT_MS } from '#test/support/app-settings.js';
import { until } from '#test/support/until.js';

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
    // On a busy machine one may still time out.
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
