import { hashPassword } from '#database/user/password.js';
import { hash as bcrypt } from '@node-rs/bcrypt';
import { PASSWORD } from '../support/start-authorize-app.js';
import { freshAddress, tryLogin } from '../support/throttle-guesser.js';
import { useAuthorizeApp } from '../support/use-authorize-app.js';

const { app } = useAuthorizeApp({ TRUSTED_PROXIES: 'loopback' });

const ROUNDS = 9;
const TRIES = 10;

async function refuse(username: string): Promise<void> {
  expect((await tryLogin(app, { username, from: freshAddress() })).status).toBe(401);
}

/** Returns the CPU time of this process for `TRIES` refused logins, in microseconds. */
async function workOf(username: string): Promise<number> {
  const before = process.cpuUsage();
  for (let tries = 0; tries < TRIES; tries += 1) await refuse(username);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

it('logins of an unknown user and of users with any kind of hash cost the same CPU time within 15 %', async () => {
  const hashes = [
    await hashPassword(PASSWORD),
    await bcrypt(PASSWORD, { cost: 6 }),
    await bcrypt(PASSWORD, { cost: 8 }),
  ];
  const users = await Promise.all(hashes.map((hash) => app.user(undefined, hash)));
  const known = users.map(({ email }) => ({ email, work: 0 }));
  let unknown = 0;
  for (const username of [...known.map(({ email }) => email), 'nobody']) await refuse(username);
  const differences = () =>
    known.map(({ work }) => unknown / work).filter((ratio) => !within15Percent(ratio));
  for (let round = 0; round < ROUNDS && (round === 0 || differences().length > 0); round += 1) {
    // Stays below the limit of 100 failures per hour and account.
    for (const user of known) user.work += await workOf(user.email);
    unknown += await workOf(`nobody${round}`);
  }
  expect(differences()).toEqual([]);
});

function within15Percent(ratio: number): boolean {
  return ratio > 0.85 && ratio < 1.15;
}
