import { publishConfirmed } from '../../src/confirming-revocation.publisher.js';

const ids = Array.from({ length: 2_500 }, (_, n) => `grant ${n}`);
let published: string[];
let confirmedAt: number[];

/** Simulates a NATS connection that breaks after `batches` confirmations. */
const nats = (batches: number) => ({
  publish: (_subject: string, payload: unknown) => {
    published.push((JSON.parse(String(payload)) as { grant_id: string }).grant_id);
  },
  flush: async () => {
    if (confirmedAt.length === batches) throw new Error('the connection broke');
    confirmedAt.push(published.length);
  },
});

beforeEach(() => {
  published = [];
  confirmedAt = [];
});

describe('the publisher of revocations', () => {
  it('waits for a confirmation after every 1,000 messages', async () => {
    await publishConfirmed(nats(3), ids);
    expect(published).toEqual(ids);
    expect(confirmedAt).toEqual([1_000, 2_000, 2_500]);
  });

  it('fails if NATS does not confirm a batch', async () => {
    await expect(publishConfirmed(nats(1), ids)).rejects.toThrow('the connection broke');
  });
});
