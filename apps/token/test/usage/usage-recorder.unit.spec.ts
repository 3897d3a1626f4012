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

it('uses of a client secret are written once an hour', async () => {
  const written: unknown[] = [];
  const nothing = { touch: async () => undefined } as unknown as GrantRecordStore;
  const touch = async (uses: readonly unknown[]) => void written.push(...uses);
  let now = Date.parse('2026-11-30T10:59:00Z');
  const recorder = new UsageRecorder(nothing, { touch } as unknown as ClientSecretStore, () => now);
  for (const minutes of [0, 1, 30]) {
    now += minutes * 60_000;
    recorder.recordSecret('secret');
    await recorder.flush();
  }
  expect(written).toEqual([
    { id: 'secret', at: '2026-11-30T10:00:00.000Z' },
    { id: 'secret', at: '2026-11-30T11:00:00.000Z' },
  ]);
  await recorder.beforeApplicationShutdown();
});
