import type { ClientSecretStore } from '#clients/client-secret.store.js';
import type { GrantRecordStore } from '#grants/records/grant-record.store.js';
import { UsageRecorder } from '../../src/usage/usage-recorder.js';

const DAY_MS = 86_400_000;

describe('uses of a grant', () => {
  let written: { id: string; day: string }[];
  let recorder: UsageRecorder;
  let now: number;

  beforeEach(() => {
    written = [];
    const touch = async (uses: typeof written) => void written.push(...uses);
    const nothing = { touch: async () => undefined } as unknown as ClientSecretStore;
    now = 20_000 * DAY_MS;
    recorder = new UsageRecorder({ touch } as unknown as GrantRecordStore, nothing, () => now);
  });
  afterEach(() => recorder.beforeApplicationShutdown());

  it('are written once a day', async () => {
    for (const day of [20_000, 20_001]) {
      now = day * DAY_MS;
      recorder.recordGrant('grant');
      await recorder.flush();
      recorder.recordGrant('grant');
      await recorder.flush();
    }
    expect(written).toEqual([
      { id: 'grant', day: '2024-10-04' },
      { id: 'grant', day: '2024-10-05' },
    ]);
  });

  it('are written once a day for each of 100,000 grants', async () => {
    for (let round = 0; round < 2; round++) {
      for (let n = 0; n < 100_000; n++) recorder.recordGrant(`grant ${n}`);
      await recorder.flush();
    }
    expect(written).toHaveLength(100_000);
  });
});
