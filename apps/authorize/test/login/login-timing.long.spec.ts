import { hashPassword } from '#users/password.js';
import { hash as bcrypt } from '@node-rs/bcrypt';
import { PASSWORD } from '../support/start-authorize-app.js';
import { freshAddress, tryLogin } from '../support/throttle-guesser.js';
import { useAuthorizeApp } from '../support/use-authorize-app.js';

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
