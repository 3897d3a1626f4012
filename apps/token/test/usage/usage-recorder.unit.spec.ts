import type { ClientSecretStore } from '#clients/client-secret.store.js';
import type { GrantRecordStore } from '#grants/records/grant-record.store.js';
import { UsageRecorder } from '../../src/usage/usage-recorder.js';
import { busyDelay, delayAfter } from '../../src/logout-delivery/backoff.js';

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

describe('backoff', () => {
  const SECOND = 1_000;
  const MINUTE = 60 * SECOND;
  const HOUR = 60 * MINUTE;

  describe('the time until the next attempt', () => {
    it('grows from 5 s to 20 min within an hour', () => {
      const ages = [0];
      for (let delay = delayAfter(1, 0); delay !== null; delay = delayAfter(ages.length, ages.at(-1) ?? 0))
        ages.push((ages.at(-1) ?? 0) + delay);
      expect(ages).toEqual([0, 5, 35, 155, 755, 1955, 3155].map((seconds) => seconds * SECOND));
    });

    it('is short after the first attempt of an old log-out, because the token apps may have been down', () => {
      expect(delayAfter(1, 30 * MINUTE)).toBe(5 * SECOND);
    });

    it('is short for a recent log-out of a busy client, even after many deliveries by NATS', () => {
      expect(delayAfter(50, 3 * SECOND)).toBe(5 * SECOND);
      expect(delayAfter(50, 10 * SECOND)).toBe(30 * SECOND);
    });

    it('is null if the log-out would then be older than an hour', () => {
      expect(delayAfter(1, HOUR - 5 * SECOND)).toBe(5 * SECOND);
      expect(delayAfter(1, HOUR - 4 * SECOND)).toBeNull();
      expect(delayAfter(1, 3 * HOUR)).toBeNull();
    });
  });

  it('the delay for a busy client grows from 5 s to 5 min and varies by up to half', () => {
    expect([1, 2, 3, 7, 100].map((deliveries) => busyDelay(deliveries, 0.5) / SECOND)).toEqual([
      5, 10, 20, 300, 300,
    ]);
    expect([0, 1].map((random) => busyDelay(1, random) / SECOND)).toEqual([2.5, 7.5]);
  });
});
