import { randomBytes } from 'node:crypto';
import { KeyRing } from '#keys/key-ring.js';
import type { User } from '#users/user.js';
import { DeviceProofs } from '../../src/login/throttle/device-cookie.js';
import { PASSWORD, startAuthorizeApp, useAuthorizeApp } from '../support/start-authorize-app.js';
import { deviceIn, freshAddress, statusesOf, tryLogin } from '../support/throttle-guesser.js';

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;

const { app } = useAuthorizeApp({ TRUSTED_PROXIES: 'loopback' });
let user: User;

beforeEach(async () => {
  user = await app.user();
});

const logIn = (username: string, device?: string) =>
  tryLogin(app, { username, password: PASSWORD, from: freshAddress(), device });

async function withDevice(device: string | undefined, username = user.email, at = app): Promise<number> {
  const from = freshAddress();
  await statusesOf(6, () => tryLogin(at, { username, from }));
  return (await tryLogin(at, { username, password: PASSWORD, from, device })).status;
}

describe('the device cookie', () => {
  it('is set at each login for 180 days, and is HttpOnly', async () => {
    const answer = await logIn(user.email);
    expect(answer.headers['set-cookie']).toContainEqual(
      expect.stringMatching(
        /^oauth_service_device=[\w-]{88}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=15552000$/,
      ),
    );
    const again = await logIn(user.email, deviceIn(answer));
    expect(deviceIn(again)).toMatch(/^[\w-]{88}$/);
    expect(deviceIn(again)).not.toBe(deviceIn(answer));
  });

  it('is Secure and has the __Host- prefix when the app is reached over https', async () => {
    const secure = await startAuthorizeApp({ AUTH_URL: 'https://auth.example.com' });
    try {
      const person = await secure.user();
      const browser = await secure.loggedIn(person);
      const device = browser.cookies.get('__Host-device');
      expect(device).toMatch(/^[\w-]{88}$/);
      browser.cookies.delete('__Host-session');
      const wrong = { username: person.email, password: 'x' };
      const page = await browser.get('/auth/login');
      // An unknown device is allowed fewer failures, so the app has recognized the prefixed cookie.
      expect(await statusesOf(6, () => browser.submit(page, wrong))).toEqual(Array(6).fill(401));
      const again = await browser.submit(page, { username: person.email, password: PASSWORD });
      expect(again.headers['set-cookie']).toContainEqual(
        expect.stringMatching(
          /^__Host-device=[\w-]{88}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=15552000; Secure$/,
        ),
      );
    } finally {
      await secure.close();
    }
  });

  it('allows its account to log in from a throttled address, by e-mail or user name', async () => {
    const device = deviceIn(await logIn(user.email));
    expect(await withDevice(undefined)).toBe(429);
    expect(await withDevice(device)).toBe(303);
    expect(await withDevice(device, ` ${user.username.toUpperCase()}`)).toBe(303);
  });

  it('allows its account to log in even from an address that is throttled for all accounts', async () => {
    const device = deviceIn(await logIn(user.email));
    const from = freshAddress();
    await statusesOf(50, (index) => tryLogin(app, { username: `nobody${index}`, from }));
    expect((await tryLogin(app, { username: user.username, from })).status).toBe(429);
    const answer = await tryLogin(app, { username: user.username, password: PASSWORD, from, device });
    expect(answer.status).toBe(303);
  });

  it('allows 20 failures, and then applies the limit of unknown devices', async () => {
    const device = deviceIn(await logIn(user.email));
    const guess = () => tryLogin(app, { username: user.email, from: '203.0.113.1', device });
    const answers = await Promise.all(Array.from({ length: 40 }, guess));
    // The device has 20 attempts, and an unknown device at this address has 5.
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(25);
    const right = { username: user.email, password: PASSWORD, device };
    expect((await tryLogin(app, { ...right, from: '203.0.113.1' })).status).toBe(429);
    expect((await tryLogin(app, { ...right, from: freshAddress() })).status).toBe(303);
  });

  it('does not grant a thief new attempts when its owner logs in', async () => {
    const device = deviceIn(await logIn(user.email));
    const steal = () => tryLogin(app, { username: user.email, from: '203.0.113.2', device });
    expect(await statusesOf(19, steal)).toEqual(Array(19).fill(401));
    expect((await logIn(user.email, device)).status).toBe(303);
    // The device has one attempt left, and an unknown device has five.
    expect(await statusesOf(7, steal)).toEqual([...Array<number>(6).fill(401), 429]);
  });

  it('is kept when its owner logs out', async () => {
    const browser = await app.loggedIn(user);
    const { oauth_service_session: session, oauth_service_device: device } = Object.fromEntries(
      browser.cookies,
    );
    await browser.submit(await browser.get('/auth/'), {}, '/auth/logout');
    expect(browser.cookies.get('oauth_service_session')).not.toBe(session);
    expect(browser.cookies.get('oauth_service_device')).toBe(device);
  });

  it('remembers the last three accounts that logged in', async () => {
    const people = [user, await app.user(), await app.user(), await app.user()];
    let device: string | undefined;
    const given: string[] = [];
    for (const { email } of people) given.unshift((device = deviceIn(await logIn(email, device))));
    expect(device?.split('.')).toEqual(given.slice(0, 3).map((cookie) => cookie.split('.')[0]));
    const outcomes = await Promise.all(people.map(({ email }) => withDevice(device, email)));
    expect(outcomes).toEqual([429, 303, 303, 303]);
  });
});

describe('an invalid device cookie', () => {
  const proofs = (clock: () => number, keys = app.configuration.TOKEN_KEYS) =>
    new DeviceProofs(KeyRing.parse(keys).keysFor('device'), clock);

  it('has no effect when it belongs to another account', async () => {
    const other = await app.user();
    expect(await withDevice(deviceIn(await logIn(other.email)))).toBe(429);
  });

  it('has no effect when it belongs to the former owner of the user name', async () => {
    const former = proofs(Date.now).issue({ ...user, id: user.id + 1_000 });
    expect(await withDevice(former)).toBe(429);
    expect(await withDevice(proofs(Date.now).issue(user))).toBe(303);
  });

  it('does not exempt the new owner of the user name from the limit of an unknown device', async () => {
    const former = proofs(Date.now).issue({ ...user, id: user.id + 1_000 });
    const from = freshAddress();
    const sent = { username: user.email, from, device: former };
    // A successful login cancels its attempt and earlier failures.
    const right = () => tryLogin(app, { ...sent, password: PASSWORD });
    expect(await statusesOf(8, right)).toEqual(Array(8).fill(303));
    expect(await statusesOf(6, () => tryLogin(app, sent))).toEqual([...Array<number>(5).fill(401), 429]);
  });

  it('has no effect when it was made without the key', async () => {
    const forged = proofs(Date.now, randomBytes(32).toString('base64url')).issue(user);
    expect(await withDevice(forged)).toBe(429);
  });

  it.each(['x', 'A'.repeat(88), `.${'A'.repeat(88)}.`, '.'.repeat(400), 'A'.repeat(401)])(
    'has no effect when it is %j',
    async (value) => {
      expect(await withDevice(value)).toBe(429);
    },
  );

  it('has no effect after 180 days', async () => {
    expect(await withDevice(proofs(() => Date.now() - 181 * DAY).issue(user))).toBe(429);
    // The proof is an hour younger, because its last day may end during the test.
    expect(await withDevice(proofs(() => Date.now() - 180 * DAY + HOUR).issue(user))).toBe(303);
  });
});

it('a device is recognized after a key rotation, until its key is removed from the ring', async () => {
  const device = deviceIn(await logIn(user.email));
  const old = app.configuration.TOKEN_KEYS;
  const fresh = randomBytes(32).toString('base64url');
  const services = { ...app.services, close: () => Promise.resolve() };
  const settings = { TRUSTED_PROXIES: 'loopback' };
  const rotated = await startAuthorizeApp({ ...settings, TOKEN_KEYS: `${fresh},${old}` }, services);
  const replaced = await startAuthorizeApp({ ...settings, TOKEN_KEYS: fresh }, services);
  try {
    expect(await withDevice(device, user.email, rotated)).toBe(303);
    expect(await withDevice(device, user.email, replaced)).toBe(429);
  } finally {
    await rotated.close();
    await replaced.close();
  }
});
