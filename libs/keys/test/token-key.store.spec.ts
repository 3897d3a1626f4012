import { TokenKeyStore } from '#keys/token-key.store.js';
import { openDatabase, type OpenDatabase } from '../../database/test/support/open-database.js';

const [OLD, CURRENT, NEXT] = ['0a0a0a0a', '0b0b0b0b', '0c0c0c0c'] as const;
const DAY_S = 86_400;

describe('TokenKeyStore', () => {
  let database: OpenDatabase;
  let store: TokenKeyStore;

  beforeAll(async () => {
    database = await openDatabase();
    store = new TokenKeyStore(database.dataSource);
  });
  beforeEach(() => database.dataSource.query('DELETE FROM token_keys'));
  afterAll(() => database.close());

  const keys = async () => new Map((await store.list()).map((key) => [key.id, key]));

  /** Remaining days for which a key is needed; null if it has signed nothing. */
  const neededDays = async (id: string): Promise<number | null> => {
    const [{ days } = { days: null }] = await database.dataSource.query<{ days: number | null }[]>(
      `SELECT round(extract(epoch FROM needed_until - now()) / 86400)::integer AS days FROM token_keys WHERE id = $1`,
      [id],
    );
    return days;
  };

  it('assumes that every key of the first recorded ring has signed', async () => {
    expect(await store.recordRing([CURRENT, OLD], 90 * DAY_S)).toBeNull();
    expect([await neededDays(CURRENT), await neededDays(OLD)]).toEqual([90, 90]);
    const known = await keys();
    expect(known.get(CURRENT)?.lastSignedAt).toEqual(expect.any(Date));
    expect(known.get(OLD)?.lastSignedAt).toBeNull();
  });

  it('assumes that a key added later has not signed until it becomes the first key', async () => {
    await store.recordRing([CURRENT], 90 * DAY_S);
    await store.recordRing([CURRENT, NEXT], 90 * DAY_S);
    expect(await neededDays(NEXT)).toBeNull();
    expect(await store.recordRing([NEXT, CURRENT], 90 * DAY_S)).toBe(CURRENT);
    expect(await neededDays(NEXT)).toBe(90);
    expect(await store.recordRing([NEXT, CURRENT], 90 * DAY_S)).toBe(NEXT);
  });

  it('extends the time for which a key is needed only while the key signs, and never shortens the time', async () => {
    await store.recordRing([CURRENT], 30 * DAY_S);
    await store.recordRing([CURRENT], 90 * DAY_S);
    expect(await neededDays(CURRENT)).toBe(90);
    await store.recordRing([CURRENT], 30 * DAY_S);
    const { neededUntil } = (await keys()).get(CURRENT) ?? {};
    await store.recordRing([NEXT, CURRENT], 400 * DAY_S);
    expect((await keys()).get(CURRENT)?.neededUntil).toEqual(neededUntil);
  });

  it('records concurrent rings consistently', async () => {
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        store.recordRing(index % 2 === 0 ? [CURRENT, OLD] : [OLD, CURRENT], 90 * DAY_S),
      ),
    );
    const known = await keys();
    expect([...known.keys()].sort()).toEqual([OLD, CURRENT]);
    for (const { lastSignedAt, neededUntil } of known.values())
      expect([lastSignedAt, neededUntil]).toEqual([expect.any(Date), expect.any(Date)]);
  });

  it('keeps a separate ring for each algorithm of ID tokens', async () => {
    const [rsa, nextRsa, ec] = ['A', 'B', 'C'].map((letter) => letter.repeat(43)) as [string, string, string];
    await store.recordRing([CURRENT], 90 * DAY_S);
    expect(await store.recordRing([rsa], DAY_S, 'RS256')).toBeNull();
    expect(await store.recordRing([ec], DAY_S, 'ES256')).toBeNull();
    expect(await store.recordRing([rsa, nextRsa], DAY_S, 'RS256')).toBe(rsa);
    expect([await neededDays(rsa), await neededDays(nextRsa)]).toEqual([1, null]);
    expect(await store.recordRing([nextRsa, rsa], DAY_S, 'RS256')).toBe(rsa);
    expect(await store.recordRing([ec], DAY_S, 'ES256')).toBe(ec);
    expect((await store.list()).map(({ id }) => id)).toEqual([CURRENT]);
    const known = await store.listIdTokenKeys();
    expect(new Map(known.map(({ id, ring }) => [id, ring]))).toEqual(
      new Map([
        [rsa, 'RS256'],
        [nextRsa, 'RS256'],
        [ec, 'ES256'],
      ]),
    );
  });

  it('rejects an id in the format of another ring', async () => {
    await expect(store.recordRing(['A'.repeat(43)], 1)).rejects.toThrow('token_keys_id_check');
  });

  it('returns the time of the database', async () => {
    const clock = async () => {
      const [row] = await database.dataSource.query<{ now: Date }[]>('SELECT clock_timestamp() AS now');
      return Number(row?.now);
    };
    const [before, now, after] = [await clock(), Number(await store.now()), await clock()];
    expect([now >= before, now <= after]).toEqual([true, true]);
  });
});
