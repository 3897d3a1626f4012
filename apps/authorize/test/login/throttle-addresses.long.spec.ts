import { randomBytes } from 'node:crypto';
import type { User } from '#users/user.js';
import { PASSWORD } from '../support/start-authorize-app.js';
import { freshAddress, statusesOf, tryLogin } from '../support/throttle-guesser.js';
import { useAuthorizeApp } from '../support/use-authorize-app.js';

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
