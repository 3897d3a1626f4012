import type { User } from '#database/user/user.js';
import { hashPassword } from '#database/user/password.js';
import { hash as bcrypt } from '@node-rs/bcrypt';
import { PASSWORD } from './authorize-app.js';
import { freshAddress, tryLogin } from './throttle-guesser.js';
import { useAuthorizeApp } from './use-authorize-app.js';

const { app } = useAuthorizeApp({ TRUSTED_PROXIES: 'loopback' });
let user: User;

beforeAll(async () => {
  user = await app.user();
});

const ROUNDS = 9;
const TRIES = 10;

async function duration(username: string, status: number): Promise<number> {
  const from = freshAddress();
  const start = performance.now();
  const answer = await tryLogin(app, { username, from });
  const took = performance.now() - start;
  expect(answer.status).toBe(status);
  return took;
}

/** Milliseconds that tries took: the quickest by the clock, all by the clock, all of the processor. */
class Spent {
  quickest = Infinity;
  clock = 0;
  work = 0;

  async add(username: string): Promise<void> {
    const before = process.cpuUsage();
    for (let tries = 0; tries < TRIES; tries += 1) {
      const took = await duration(username, 401);
      this.quickest = Math.min(this.quickest, took);
      this.clock += took;
    }
    const { user: ours, system } = process.cpuUsage(before);
    this.work += (ours + system) / 1000;
  }
}

it.each([
  ['ours', hashPassword],
  ['bcrypt, as the product made them', (password: string) => bcrypt(password, { cost: 9 })],
])(
  'an unknown user takes as long as a wrong password, within 15 %, where hashes are %s',
  async (_, hashed) => {
    // Of every user: an unknown one costs what another one does.
    await app.sql('UPDATE users SET password_hash = $1', [await hashed(PASSWORD)]);
    for (const username of [user.email, 'nobody']) await duration(username, 401);
    const [known, unknown] = [new Spent(), new Spent()];
    const ratio = (of: 'quickest' | 'work') => unknown[of] / known[of];
    const settled = () => within15Percent(ratio('quickest')) && within15Percent(ratio('work'));
    // In turns, and in as many rounds as it takes until both were left alone for once.
    for (let round = 0; round < ROUNDS && !settled(); round += 1) {
      // A login has 100 failures an hour before it is under attack; these stay below.
      await known.add(user.email);
      await unknown.add(`nobody${round}${hashed.name}`);
    }
    expect(within15Percent(ratio('work')) || ratio('work')).toBe(true);
    // The clock also tells how the machine was shared with others: as much more as the known one's took than its work.
    const most = 1.15 * Math.max(1, known.clock / known.work);
    expect(Math.max(ratio('quickest'), 1 / ratio('quickest'))).toBeLessThan(most);
    // Up to 180 logins, on a machine that may be busy.
  },
);

function within15Percent(ratio: number): boolean {
  return ratio > 0.85 && ratio < 1.15;
}
