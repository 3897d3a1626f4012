import { NatsRevocationPublisher } from '#grants/revocation.service.js';
import type { NatsConnection } from '#messaging/nats.connection.js';

describe('the publisher of revocations', () => {
  it('broadcasts many revocations in batches, so that other requests do not wait', async () => {
    const published: string[] = [];
    const connection = {
      broadcasts: { trusted: true },
      publish: (_subject: string, { grant_id }: { grant_id: string }) => void published.push(grant_id),
    } as unknown as NatsConnection;
    const ids = Array.from({ length: 5_000 }, (_, n) => `grant ${n}`);
    const seen: number[] = [];
    setImmediate(function look() {
      seen.push(published.length);
      if (published.length < ids.length) setImmediate(look);
    });
    expect(await new NatsRevocationPublisher(connection).publish(ids)).toBe(true);
    expect(published).toEqual(ids);
    for (const part of [1_000, 2_000, 3_000, 4_000]) expect(seen).toContain(part);
  });

  it.each([
    ['lost during the broadcasts', [true, true, false]],
    ['restored before the last broadcast', [false, false, true]],
  ])('does not report revocations as broadcast when the connection is %s', async (_, trust) => {
    let published = 0;
    const connection = {
      broadcasts: {
        get trusted() {
          return trust[Math.min(Math.floor(published / 1_000), 2)];
        },
      },
      publish: () => void (published += 1),
    } as unknown as NatsConnection;
    const ids = Array.from({ length: 3_000 }, (__, n) => `grant ${n}`);
    expect(await new NatsRevocationPublisher(connection).publish(ids)).toBe(false);
    expect(published).toBe(3_000);
  });
});
