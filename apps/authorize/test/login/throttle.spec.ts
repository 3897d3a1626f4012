import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import type { User } from '#users/user.js';
import { PATIENT_MS } from '#test/support/app-settings.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { databaseDataSource, requestLimits } from '#database/data-source.js';
import { KeyRing } from '#keys/key-ring.js';
import { PASSWORD, useAuthorizeApp } from '../support/start-authorize-app.js';
import { freshAddress, statusesOf, tryLogin } from '../support/throttle-guesser.js';
import { LoginThrottleService, normalizeLogin } from '../../src/login/throttle/login-throttle.service.js';
import { ThrottleStore } from '../../src/login/throttle/throttle.store.js';

describe('throttle', () => {
  const { app } = useAuthorizeApp({ TRUSTED_PROXIES: 'loopback' });
  let user: User;

  beforeEach(async () => {
    user = await app.user();
  });

  const times = (count: number, status: number) => Array.from({ length: count }, () => status);
  const unknownLogin = () => `unknownLogin${randomBytes(6).toString('hex')}`;

  describe('password guessing from one address', () => {
    it('is limited to 5 of 200 concurrent guesses', async () => {
      const from = freshAddress();
      const guesses = Array.from({ length: 200 }, (_, index) =>
        tryLogin(app, { username: user.email, password: `guess ${index}`, from }),
      );
      const statuses = (await Promise.all(guesses)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 401)).toHaveLength(5);
      expect(statuses.filter((status) => status === 429)).toHaveLength(195);
    });

    it('is rejected after 5 failures, even with the correct password, but not from another address', async () => {
      const from = freshAddress();
      const guess = () => tryLogin(app, { username: user.email, from });
      expect(await statusesOf(7, guess)).toEqual([...times(5, 401), 429, 429]);
      const right = { username: user.email, password: PASSWORD };
      expect((await tryLogin(app, { ...right, from })).status).toBe(429);
      expect((await tryLogin(app, { ...right, from: freshAddress() })).status).toBe(303);
    });

    it.each([
      ['letter case', (login: string) => login.toUpperCase()],
      ['surrounding spaces', (login: string) => ` ${login}\t`],
      ['letters of another width', (login: string) => login.replaceAll('a', 'Ａ')],
      ['accents', (login: string) => login.replaceAll('a', 'á')],
    ])('is counted per login regardless of spelling: %s', async (_case, respell) => {
      const from = freshAddress();
      await statusesOf(5, () => tryLogin(app, { username: user.email, from }));
      expect((await tryLogin(app, { username: respell(user.email), from })).status).toBe(429);
    });

    it('is limited to 50 failures for all logins together', async () => {
      const from = freshAddress();
      expect(await statusesOf(50, () => tryLogin(app, { username: unknownLogin(), from }))).toEqual(
        times(50, 401),
      );
      const right = { username: user.email, password: PASSWORD };
      expect((await tryLogin(app, { ...right, from })).status).toBe(429);
      expect((await tryLogin(app, { ...right, from: freshAddress() })).status).toBe(303);
    });

    it('is not counted while it is throttled, so that other accounts can log in', async () => {
      const from = freshAddress();
      await statusesOf(60, () => tryLogin(app, { username: user.email, from }));
      const other = await app.user();
      expect((await tryLogin(app, { username: other.email, password: PASSWORD, from })).status).toBe(303);
    });

    it('does not include successful logins, which reset the count', async () => {
      const from = freshAddress();
      const right = () => tryLogin(app, { username: user.email, password: PASSWORD, from });
      const wrong = () => tryLogin(app, { username: user.email, from });
      expect(await statusesOf(60, right)).toEqual(times(60, 303));
      expect(await statusesOf(4, wrong)).toEqual(times(4, 401));
      expect((await right()).status).toBe(303);
      expect(await statusesOf(6, wrong)).toEqual([...times(5, 401), 429]);
    });

    it('gains no new attempts by a login to the attacker’s own account', async () => {
      const from = freshAddress();
      const mine = await app.user();
      const spray = () => tryLogin(app, { username: unknownLogin(), from });
      expect(await statusesOf(49, spray)).toEqual(times(49, 401));
      expect((await tryLogin(app, { username: mine.email, password: PASSWORD, from })).status).toBe(303);
      expect(await statusesOf(2, spray)).toEqual([401, 429]);
    });

    it.each([
      ['an IPv6 network of 64 bits', '2001:db8:1:2::7', '2001:DB8:1:2:ffff:ffff:ffff:ffff', 429],
      ['another network of 64 bits', '2001:db8:1:3::7', '2001:db8:1:4::7', 401],
      ['an IPv4 address in IPv6 form', '198.51.100.7', '::ffff:198.51.100.7', 429],
      ['another IPv4 address', '198.51.100.8', '::ffff:198.51.100.9', 401],
      ['an invalid address', 'unknown', '_hidden', 429],
    ])('is counted per network: %s', async (_case, from, next, status) => {
      await statusesOf(5, () => tryLogin(app, { username: user.email, from }));
      expect((await tryLogin(app, { username: user.email, from: next })).status).toBe(status);
    });
  });

  describe('a throttled login', () => {
    /** Returns a throttled response. The client must wait until the first of five failures is 15 minutes old. */
    const refusal = async (username: string) => {
      const [from, start] = [freshAddress(), performance.now()];
      await statusesOf(5, () => tryLogin(app, { username, from }));
      const answer = await tryLogin(app, { username, password: 'my secret word', from });
      const seconds = Number(answer.headers['retry-after']);
      expect(seconds).toBeGreaterThan(899 - (performance.now() - start) / 1000);
      expect(seconds).toBeLessThanOrEqual(900);
      return answer;
    };

    it('shows the form again, with the waiting time and advice', async () => {
      const { status, headers, text } = await refusal(user.email);
      expect(status).toBe(429);
      expect(text).toMatch(/role="alert" id="problem">[^<]*Try again in 15 minutes, or use a browser where/);
      expect(text).toContain(`value="${user.email}"`);
      expect(text).not.toContain('my secret word');
      expect(headers['set-cookie']).toBeUndefined();
    });

    it('gets a response that does not reveal whether the account exists', async () => {
      const unknown = unknownLogin();
      const [one, other] = [await refusal(user.username), await refusal(unknown)];
      const shape = (text: string, login: string) =>
        text.replaceAll(login, 'LOGIN').replace(/name="csrf_token" value="[^"]*"/, '');
      expect(other.status).toBe(one.status);
      expect(shape(other.text, unknown)).toBe(shape(one.text, user.username));
    });
  });

  describe('the counters of failed logins', () => {
    it('have a TTL, and contain no account names or addresses', async () => {
      const from = freshAddress();
      const owner = await app.loggedIn(user);
      await statusesOf(2, () => tryLogin(app, { username: user.email, from }));
      await tryLogin(app, { username: user.email, from, device: owner.cookies.get('oauth_service_device') });
      const keys = await app.redis.keys('{throttle}:*');
      const kinds = new Set(keys.map((key) => key.split(':')[1]));
      expect(kinds).toEqual(new Set(['address', 'address-and-login', 'device', 'login']));
      const ttls = await Promise.all(keys.map((key) => app.redis.pttl(key)));
      expect(Math.min(...ttls)).toBeGreaterThan(0);
      expect(Math.max(...ttls)).toBeLessThanOrEqual(60 * 60 * 1000);
      const members = await Promise.all(keys.map((key) => app.redis.zrange(key, '0', '-1')));
      const all = JSON.stringify([keys, members]).toLowerCase();
      for (const secret of [from, user.email, user.username]) expect(all).not.toContain(secret);
    });
  });
});

describe('throttle counters', () => {
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
      for (let tries = 0; tries < 50; tries += 1)
        expect(await verdict(`another${tries}`)).toBe('address 900');
      expect(await redis.dbsize()).toBe(before);
    });
  });

  describe('the login throttle', () => {
    it('does not distinguish letters that PostgreSQL treats as equal in any collation', async () => {
      const dataSource = await databaseDataSource(
        services.databaseUrl,
        requestLimits(PATIENT_MS),
      ).initialize();
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
});
