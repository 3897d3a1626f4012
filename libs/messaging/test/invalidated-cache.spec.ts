import { NatsConnection } from '#messaging/nats.connection.js';
import { InvalidatedCache } from '#messaging/invalidated-cache.js';
import { RestartableNats } from '#test/support/restartable-nats.js';
import { until } from '#test/support/until.js';

interface Fetch {
  readonly key: string;
  answer(value: string): void;
}

let nats: RestartableNats;
let connection: NatsConnection;
let others: NatsConnection;

const INVALIDATIONS = {
  'test.revoked': (payload: unknown) => `grant:${(payload as { grant: string }).grant}`,
};

const connectionOf = (name: string) =>
  new NatsConnection({ natsUrl: nats.url, name, invalidations: INVALIDATIONS });

beforeAll(async () => {
  nats = await RestartableNats.start();
  connection = connectionOf('cache');
  others = connectionOf('others');
  await Promise.all([connection.open(), others.open()]);
});

afterAll(async () => {
  await Promise.all([connection.close(), others.close()]);
  await nats.stop();
});

/** Opens a cache. The test resolves each fetch with a value such as `g1:active`, which has the tag `grant:g1`. */
function open(max = 100) {
  const fetches: Fetch[] = [];
  const cache = new InvalidatedCache<string>(connection.broadcasts, {
    max,
    fetch: (key) => new Promise((resolve) => fetches.push({ key, answer: resolve })),
    tags: (value) => [`grant:${value.split(':', 1)[0]}`],
    ttl: (value) => (value.endsWith('inactive') ? 0 : 30_000),
  });
  const nth = async (n: number): Promise<Fetch> => {
    await until(`fetch ${n} has begun`, 60_000, () => fetches.length > n);
    return fetches[n] as Fetch;
  };
  return { cache, fetches, nth };
}

/** Broadcasts a revocation and waits until the cache's connection has received it. */
async function revoked(grant: string): Promise<void> {
  others.publish('test.revoked', { grant });
  await others.ping();
  await connection.ping();
}

describe('a cache with invalidation by broadcasts', () => {
  it('reports the outcome of each lookup', async () => {
    const { cache, nth } = open();
    const lookups: string[] = [];
    cache.observe((lookup) => lookups.push(lookup));
    const pending = [cache.get('token'), cache.get('token')];
    (await nth(0)).answer('g0:active');
    await Promise.all(pending);
    await cache.get('token');
    expect(cache.cached('token')).toBe('g0:active');
    expect(cache.cached('other')).toBeUndefined();
    expect(lookups).toEqual(['miss', 'shared', 'hit', 'hit']);
  });

  it('is bypassed while broadcasts cannot arrive, and reports untrusted lookups', async () => {
    const unconnected = connectionOf('never opened');
    const options = { max: 1, fetch: async () => 'fetched', tags: () => [], ttl: () => 30_000 };
    const cache = new InvalidatedCache<string>(unconnected.broadcasts, options);
    const lookups: string[] = [];
    cache.observe((lookup) => lookups.push(lookup));
    await cache.get('token');
    await cache.get('token');
    expect(cache.cached('token')).toBeUndefined();
    expect(lookups).toEqual(['untrusted', 'untrusted']);
  });

  it('shares one fetch between concurrent lookups of a key', async () => {
    const { cache, fetches, nth } = open();
    const pending = Array.from({ length: 50 }, () => cache.get('token'));
    (await nth(0)).answer('g1:active');
    expect(new Set(await Promise.all(pending))).toEqual(new Set(['g1:active']));
    expect(await cache.get('token')).toBe('g1:active');
    expect(fetches).toHaveLength(1);
  });

  it('does not store a value whose grant is revoked during the fetch', async () => {
    const { cache, nth } = open();
    const pending = cache.get('token');
    const first = await nth(0);
    await revoked('g2');
    first.answer('g2:active');
    expect(await pending).toBe('g2:active');
    expect(cache.cached('token')).toBeUndefined();
    const again = cache.get('token');
    (await nth(1)).answer('g2:inactive');
    expect(await again).toBe('g2:inactive');
  });

  it('does not store a value if more revocations arrive during the fetch than the cache remembers', async () => {
    const { cache, nth } = open();
    const pending = cache.get('token');
    const first = await nth(0);
    others.publish('test.revoked', { grant: 'g9' });
    // Publishes in parts, because NATS disconnects a busy process that reads too slowly.
    for (let part = 0; part < 20; part++) {
      for (let n = 0; n < 5_000; n++) others.publish('test.revoked', { grant: `another ${part} ${n}` });
      await others.ping();
      await connection.ping();
    }
    first.answer('g9:active');
    await pending;
    expect(cache.cached('token')).toBeUndefined();
  });

  it('starts a new fetch for lookups after a revocation', async () => {
    const { cache, nth } = open();
    const early = cache.get('token');
    const first = await nth(0);
    await revoked('g3');
    const late = [cache.get('token'), cache.get('token')];
    first.answer('g3:active');
    (await nth(1)).answer('g3:inactive');
    expect(await Promise.all(late)).toEqual(['g3:inactive', 'g3:inactive']);
    expect(await early).toBe('g3:active');
  });

  it('continues a fetch when another grant is revoked', async () => {
    const { cache, fetches, nth } = open();
    const pending = cache.get('token');
    const first = await nth(0);
    await revoked('another');
    first.answer('g4:active');
    expect(await pending).toBe('g4:active');
    expect(fetches).toHaveLength(1);
  });

  it('does not repeat a fetch during which the grant is revoked', async () => {
    const { cache, fetches, nth } = open();
    for (let n = 0; n < 4; n++) {
      const pending = cache.get('token');
      const fetch = await nth(n);
      await revoked('g5');
      fetch.answer('g5:active');
      expect(await pending).toBe('g5:active');
    }
    expect(fetches).toHaveLength(4);
  });

  it('drops values after a reconnection, because broadcasts may have been missed', async () => {
    const { cache, nth } = open();
    const kept = cache.get('kept');
    (await nth(0)).answer('g6:active');
    await kept;
    const pending = cache.get('token');
    const first = await nth(1);
    await nats.kill();
    await nats.restart();
    await until('both connections have reconnected', 60_000, async () => {
      await Promise.all([connection.ping(), others.ping()]);
      return true;
    });
    first.answer('g6:active');
    await pending;
    for (const [n, key] of [
      [2, 'token'],
      [3, 'kept'],
    ] as const) {
      const again = cache.get(key);
      (await nth(n)).answer('g6:inactive');
      expect(await again).toBe('g6:inactive');
    }
  });

  it('evicts every token of a grant, including a token that was evicted by size and stored again', async () => {
    const { cache, fetches, nth } = open(3);
    const keep = async (key: string, value: string) => {
      const pending = cache.get(key);
      (await nth(fetches.length - 1)).answer(value);
      await pending;
    };
    for (const key of ['a', 'b', 'c']) await keep(key, 'g7:active');
    // `a` is evicted and stored again. The removal of the old entry must not remove the new entry from the index.
    await keep('d', 'g8:active');
    await keep('a', 'g7:active');
    await revoked('g7');
    const count = fetches.length;
    for (const key of ['a', 'c']) {
      const pending = cache.get(key);
      (await nth(fetches.length - 1)).answer('g7:inactive');
      expect(await pending).toBe('g7:inactive');
    }
    expect(fetches).toHaveLength(count + 2);
    expect(await cache.get('d')).toBe('g8:active');
  });

  it('removes the tags of evicted entries from the index', async () => {
    const { cache, fetches, nth } = open(10);
    for (let n = 0; n < 1_000; n++) {
      const pending = cache.get(`token ${n}`);
      (await nth(fetches.length - 1)).answer(`g${n}x:active`);
      await pending;
    }
    expect(cache.size).toEqual({ entries: 10, tags: 10 });
  });
});
