import type { User } from '#directory/user.js';
import { hashPassword } from '#directory/password.js';
import { PASSWORD } from './authorize-app.js';
import { freshAddress, tryLogin } from './throttle-guesser.js';
import { useAuthorizeApp } from './use-authorize-app.js';

const { app } = useAuthorizeApp({ TRUSTED_PROXIES: 'loopback' });
let user: User;

beforeAll(async () => {
  user = await app.user(undefined, await hashPassword(PASSWORD));
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

it('an unknown user takes as long as a wrong password: within 15 %', async () => {
  for (const username of [user.email, 'nobody']) await duration(username, 401);
  const [known, unknown]: [number[], number[]] = [[], []];
  // The quickest of each is compared: what else the machine does only ever slows down. In turns, and in as many rounds
  // as it takes until both were left alone for once.
  const ratio = () => Math.min(...unknown) / Math.min(...known);
  for (let round = 0; round < ROUNDS && !within15Percent(ratio()); round += 1) {
    for (let tries = 0; tries < TRIES; tries += 1) {
      // A login has 100 failures an hour before it is under attack; these stay below.
      known.push(await duration(user.email, 401));
      unknown.push(await duration(`nobody${round}`, 401));
    }
  }
  expect(within15Percent(ratio()) || ratio()).toBe(true);
  // Up to 180 logins, on a machine that may be busy.
});

function within15Percent(ratio: number): boolean {
  return ratio > 0.85 && ratio < 1.15;
}
