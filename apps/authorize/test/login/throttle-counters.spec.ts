import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { PATIENT_MS } from '#test/support/app-settings.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { databaseDataSource, requestLimits } from '#database/data-source.js';
import { KeyRing } from '#keys/key-ring.js';
import { LoginThrottleService, normalizeLogin } from '../../src/login/throttle/login-throttle.service.js';
import { ThrottleStore } from '../../src/login/throttle/throttle.store.js';

const MINUTE = 60_000;

let services: Isolated;
let redis: Redis;
let now = Date.now();
let throttle: LoginThrottleService;

beforeAll(async () => {
  services = await isolate();
  redis = new Redis(services.redisUrl);
  throttle = new LoginThrottleService(new KeyRing([randomBytes(32)]), new ThrottleStore(redis), () => now);
});

beforeEach(() => redis.flushdb());

afterAll(async () => {
  redis.disconnect();
  await services.close();
});

const LOGIN = 'ada@example.com';
const HERE = '192.0.2.1';
const count = (login = LOGIN, address = HERE) => throttle.count(login, address, null);
const verdict = async (login?: string, address?: string) => {
  const counted = await count(login, address);
  return counted.outcome === 'refused' ? `${counted.counter} ${counted.seconds}` : counted.outcome;
};

describe('a counter of failed logins', () => {
  it('allows the next attempt exactly when its oldest failure is 15 minutes old', async () => {
    const start = now;
    for (let minute = 0; minute < 5; minute += 1) {
      now = start + minute * MINUTE;
      expect(await verdict()).toBe('unknown');
    }
    expect(await verdict()).toBe(`address_and_login ${11 * 60}`);
    now = start + 15 * MINUTE - 1;
    expect(await verdict()).toBe('address_and_login 1');
    now = start + 15 * MINUTE;
    expect(await verdict()).toBe('unknown');
    expect(await verdict()).toBe('address_and_login 60');
  });

  it('keeps later attempts when an earlier attempt is cancelled, even twice', async () => {
    const first = await count();
    if (first.outcome === 'refused') throw new Error('the first attempt was refused');
    now += 16 * MINUTE;
    for (let tries = 0; tries < 5; tries += 1) expect(await verdict()).toBe('unknown');
    await throttle.cancel(first);
    await throttle.cancel(first);
    expect(await verdict()).toBe('address_and_login 900');
  });

  it('has a bounded size for an account, and is empty an hour after the last failure', async () => {
    for (let tries = 0; tries < 150; tries += 1)
      expect(await verdict(LOGIN, `10.0.0.${tries}`)).toBe('unknown');
    expect(await verdict(LOGIN, '10.0.0.1')).toBe('login 900');
    const [key = ''] = await redis.keys('{throttle}:login:*');
    expect(await redis.zcard(key)).toBe(100);
    now += 60 * MINUTE;
    for (let tries = 0; tries < 5; tries += 1) expect(await verdict()).toBe('unknown');
  });

  it('determines the waiting time if its limit applies the longest', async () => {
    for (let tries = 0; tries < 5; tries += 1) await count();
    now += 5 * MINUTE;
    for (let tries = 0; tries < 45; tries += 1) await count(`nobody${tries}`);
    // Both counters are full; the address counter has 45 newer failures.
    expect(await verdict()).toMatch(/ 600$/);
    now += 10 * MINUTE;
    expect(await verdict()).toBe('unknown');
  });

  it('is not created by refused attempts', async () => {
    for (let tries = 0; tries < 50; tries += 1) await count(`nobody${tries}`);
    const before = await redis.dbsize();
    for (let tries = 0; tries < 50; tries += 1) expect(await verdict(`another${tries}`)).toBe('address 900');
    expect(await redis.dbsize()).toBe(before);
  });
});

describe('the login throttle', () => {
  it('does not distinguish letters that PostgreSQL treats as equal in any collation', async () => {
    const dataSource = await databaseDataSource(services.databaseUrl, requestLimits(PATIENT_MS)).initialize();
    try {
      const collations = await dataSource.query<{ name: string }[]>(
        `select distinct collname as name from pg_collation
         where collname in ('C', 'C.utf8', 'en_US.utf8', 'pg_c_utf8', 'pg_unicode_fast', 'und-x-icu', 'tr-x-icu', 'lt-x-icu')`,
      );
      for (const { name } of collations) {
        const rows = await dataSource.query<{ letter: string; lower: string }[]>(
          `select chr(n) as letter, lower(chr(n) collate "${name}") as lower from generate_series(33, 195103) n
           where n not between 55296 and 57343 and chr(n) <> lower(chr(n) collate "${name}")`,
        );
        expect(rows.length).toBeGreaterThan(name === 'C' ? 25 : 1_000);
        const distinguished = rows.filter(
          ({ letter, lower }) => normalizeLogin(`x${letter}y`) !== normalizeLogin(`x${lower}y`),
        );
        expect([name, distinguished]).toEqual([name, []]);
      }
      expect(collations.length).toBeGreaterThan(1);
    } finally {
      await dataSource.destroy();
    }
  });

  it.each([
    ['İ', 'i'],
    ['K', 'k'],
    ['Σ', 'ς'],
    ['ẞ', 'ß'],
    ['ａ', 'A'],
  ])('does not distinguish %s from %s', (one, other) => {
    expect(normalizeLogin(` a${one}b`)).toBe(normalizeLogin(`a${other}b `));
  });
});
