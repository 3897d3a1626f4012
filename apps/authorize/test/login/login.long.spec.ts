import { randomBytes } from 'node:crypto';
import { hash as bcrypt } from '@node-rs/bcrypt';
import { hashPassword } from '#users/password.js';
import type { User } from '#users/user.js';
import { PASSWORD, useAuthorizeApp } from '../support/start-authorize-app.js';
import { freshAddress, statusesOf, tryLogin } from '../support/throttle-guesser.js';

describe('login timing', () => {
  const { app } = useAuthorizeApp({ TRUSTED_PROXIES: 'loopback' });

  /** Odd, for the median, and below the limit of 100 failures per hour and account. */
  const ROUNDS = 31;

  /** Returns the CPU time of this process for a refused login, in microseconds. */
  async function workOf(username: string): Promise<number> {
    const before = process.cpuUsage();
    expect((await tryLogin(app, { username, from: freshAddress() })).status).toBe(401);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  }

  it('failed logins of an unknown user and of users with hashes of different kinds cost the same CPU time within 15 %', async () => {
    const hashes = [
      await hashPassword(PASSWORD),
      await bcrypt(PASSWORD, { cost: 6 }),
      await bcrypt(PASSWORD, { cost: 8 }),
      `$pbkdf2-sha256$i=60000,l=32$c2FsdA$${'A'.repeat(43)}`,
      `$scrypt$ln=13,r=8,p=1$c2FsdA$${'A'.repeat(43)}`,
    ];
    const users = await Promise.all(hashes.map((hash) => app.user(undefined, hash)));
    const logins = ['nobody', ...users.map(({ email }) => email)].map((username) => ({
      username,
      work: [] as number[],
    }));
    // Alternates the users and compares medians, because other processes disturb single measurements.
    for (let round = 0; round < ROUNDS; round += 1)
      for (const { username, work } of logins) work.push(await workOf(username));
    const [unknown, ...known] = logins.map(({ work }) => median(work));
    for (const work of known) {
      expect(unknown! / work).toBeGreaterThan(0.85);
      expect(unknown! / work).toBeLessThan(1.15);
    }
  });

  function median(values: readonly number[]): number {
    return values.toSorted((a, b) => a - b)[(values.length - 1) / 2]!;
  }
});

describe('throttle addresses', () => {
  const { app } = useAuthorizeApp({ TRUSTED_PROXIES: 'loopback' });
  let user: User;

  beforeEach(async () => {
    user = await app.user();
  });

  const times = (count: number, status: number) => Array.from({ length: count }, () => status);

  describe('password guessing from many addresses', () => {
    const attack = (username: string) =>
      Promise.all(
        Array.from({ length: 25 }, async () => {
          const from = freshAddress();
          await statusesOf(4, () => tryLogin(app, { username, from }));
          return from;
        }),
      );

    it('leaves one attempt to each new address, and does not lock out the owner', async () => {
      const owner = await app.loggedIn(user);
      const device = owner.cookies.get('oauth_service_device');
      const attackers = await attack(user.email);
      const login = { username: user.email, password: PASSWORD };

      for (const from of attackers.slice(0, 3))
        expect((await tryLogin(app, { ...login, from })).status).toBe(429);
      const another = freshAddress();
      expect(await statusesOf(3, () => tryLogin(app, { username: user.email, from: another }))).toEqual([
        401, 429, 429,
      ]);
      // The owner can log in from a new address, and with a known browser even from an attacker's address.
      expect((await tryLogin(app, { ...login, from: freshAddress() })).status).toBe(303);
      expect((await tryLogin(app, { ...login, from: attackers[0] ?? '', device })).status).toBe(303);
      const other = { username: (await app.user()).email, from: freshAddress() };
      expect(await statusesOf(5, () => tryLogin(app, other))).toEqual(times(5, 401));
    });

    it('leaves one attempt to each IPv6 site, regardless of the number of its networks', async () => {
      const networkOf = (site: string, index: number) => `2001:db8:${site}:${index.toString(16)}::1`;
      const tryFrom = (from: string, password?: string) =>
        tryLogin(app, { username: user.email, from, ...(password !== undefined && { password }) });
      const statuses = await statusesOf(110, (index) => tryFrom(networkOf('a', index)));
      expect(statuses).toEqual([...times(100, 401), ...times(10, 429)]);
      expect((await tryFrom(networkOf('a', 0xffff), PASSWORD)).status).toBe(429);
      expect((await tryFrom(networkOf('b', 1))).status).toBe(401);
      expect((await tryFrom(networkOf('b', 2))).status).toBe(429);
      expect((await tryFrom(networkOf('c', 1), PASSWORD)).status).toBe(303);
      // A successful login is not counted for its site.
      expect((await tryFrom(networkOf('c', 2), PASSWORD)).status).toBe(303);
    });

    it('leaves one attempt to each new address even for an account that does not exist', async () => {
      const username = `unknownLogin${randomBytes(6).toString('hex')}`;
      await attack(username);
      const from = freshAddress();
      expect(await statusesOf(2, () => tryLogin(app, { username, from }))).toEqual([401, 429]);
    });
  });
});
