import { publishConfirmed } from '../../src/revocation.publisher.js';

const ids = Array.from({ length: 2_500 }, (_, n) => `grant ${n}`);
let published: string[];
let confirmedAt: number[];

/** NATS that confirms so many parts. */
const nats = (parts: number) => ({
  publish: (_subject: string, payload: unknown) => {
    published.push((JSON.parse(String(payload)) as { grant_id: string }).grant_id);
  },
  flush: async () => {
    if (confirmedAt.length === parts) throw new Error('the connection broke');
    confirmedAt.push(published.length);
  },
});

beforeEach(() => {
  published = [];
  confirmedAt = [];
});

it('many revocations are confirmed part by part, so that other requests do not wait for the last', async () => {
  await publishConfirmed(nats(3), ids);
  expect(published).toEqual(ids);
  expect(confirmedAt).toEqual([1_000, 2_000, 2_500]);
});

it('revocations are not confirmed if one part is not', async () => {
  await expect(publishConfirmed(nats(1), ids)).rejects.toThrow('the connection broke');
});
