import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { runOperator } from '../../apps/operator/test/support/run-operator.js';
import { type AppProcess, startApp } from '../support/app-process.js';
import { until } from '../support/until.js';
import { openRotation, type Rotation } from './rotation.js';
import { type Answer, ProductUser, register } from './running-product.js';

const newKey = (): string => randomBytes(32).toString('base64url');
const REPLICAS = 2;

let rotation: Rotation;
let resource: AppProcess | undefined;
let user: ProductUser;

/** Unexpected responses, the first of which ends the load. */
const refused: unknown[] = [];
const KINDS = ['exchange', 'refresh', 'me'] as const;
type Kind = (typeof KINDS)[number];
/** More than the number of connections that `fetch` keeps open to one process, because all of them may be closed. */
const ATTEMPTS = 20;
/** Leaves time to the processes that start during the load. */
const PAUSE_MS = 100;
const load = { done: { exchange: 0, refresh: 0, me: 0 }, ends: false };

beforeAll(async () => {
  rotation = await openRotation();
});

afterAll(async () => {
  load.ends = true;
  await resource?.stop();
  await rotation?.close();
});

/** @param halfway called after the first process was replaced */
async function rollOut(
  tokenKeys: string,
  halfway: () => Promise<void> = async () => undefined,
): Promise<void> {
  for (let at = 0; at < REPLICAS; at += 1) {
    for (const name of ['token', 'authorize'] as const) {
      await rotation.replace(name, at, { TOKEN_KEYS: tokenKeys });
      if (at === 0 && name === 'token') await halfway();
    }
  }
}

interface Step {
  readonly step: number;
  readonly token_keys: string;
}

function expectOk(kind: Kind, { status, body }: Answer): Answer['body'] {
  load.done[kind] += 1;
  if (status === 200) return body;
  refused.push({ kind, status, body });
  load.ends = true;
  return body;
}

/**
 * Retries after a closed connection, as HTTP libraries and proxies do. A stopping process may close a connection
 * while a request is being sent.
 */
async function delivered(send: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send();
    } catch (error) {
      // The TypeError of `fetch` belongs to another realm under Jest, so `instanceof` would fail.
      if ((error as Error).message !== 'fetch failed' || attempt === ATTEMPTS) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

async function exchange(): Promise<Answer['body']> {
  return expectOk('exchange', await delivered(async () => user.redeem(await user.code())));
}

async function me(token: unknown): Promise<void> {
  expectOk('me', await delivered(() => user.me(token)));
}

/** Refreshes one grant repeatedly. Uses both the new and the previous access token. */
async function keepRefreshing(): Promise<void> {
  let pair = await exchange();
  while (!load.ends) {
    const last = pair;
    pair = expectOk('refresh', await delivered(() => user.refresh(last['refresh_token'])));
    await Promise.all([me(pair['access_token']), me(last['access_token'])]);
    await sleep(PAUSE_MS);
  }
}

async function keepExchanging(): Promise<void> {
  while (!load.ends) {
    const { access_token: token } = await exchange();
    await me(token);
    // Stays below the limit of live grants, above which the grant that is being refreshed would be revoked.
    await delivered(() => user.revoke(token));
    await sleep(PAUSE_MS);
  }
}

async function loadGoesOn(times: number): Promise<void> {
  const before = { ...load.done };
  await until('the load has gone on', 120_000, async () => {
    if (refused.length > 0) throw new Error(`refused: ${JSON.stringify(refused)}`);
    return KINDS.every((kind) => load.done[kind] >= before[kind] + times);
  });
}

it('the product rejects no request and no older token during two key rotations under load', async () => {
  let ring = newKey();
  await rollOut(ring);
  resource = await startApp('resource', rotation.env);
  const urls = { ...rotation.env, API_URL: resource.url };
  const run = await register(urls.DATABASE_URL, urls, 'http://localhost:1/callback');
  user = new ProductUser(run);
  // The first key signs these tokens, which are not used until both rotations are over.
  const kept = await exchange();

  const actors = [keepExchanging(), keepRefreshing(), keepRefreshing(), keepRefreshing()];
  const failure = Promise.all(actors).then(() => undefined);
  failure.catch((error: unknown) => refused.push(inspect(error)));
  await loadGoesOn(5);

  const steps: number[] = [];
  for (const round of [1, 2]) {
    const added = await rotation.nextStep<Step>(ring, ...(round === 2 ? ['--begin'] : []));
    await rollOut(added.token_keys, async () => {
      // The other processes do not have the new key yet.
      const early = await rotation.keysNext(added.token_keys);
      expect([early.code, early.stdout]).toEqual([1, '']);
      expect(early.stderr).toMatch('still has another value of TOKEN_KEYS');
    });
    await loadGoesOn(5);
    const signing = await rotation.nextStep<Step>(added.token_keys);
    await rollOut(signing.token_keys);
    await loadGoesOn(5);
    ring = signing.token_keys;
    steps.push(added.step, signing.step);
  }
  expect(steps).toEqual([1, 2, 1, 2]);
  expect(ring.split(',')).toHaveLength(3);

  // Live tokens may still need the older keys, because less than ninety days have passed.
  const tooEarly = await rotation.keysNext(ring);
  expect([tooEarly.code, tooEarly.stderr]).toEqual([1, expect.stringMatching('live tokens may need')]);
  await me(kept['access_token']);
  expectOk('refresh', await delivered(() => user.refresh(kept['refresh_token'])));
  await rotation.database.query(
    `UPDATE token_keys SET needed_until = now() WHERE last_signed_at < (SELECT max(last_signed_at) FROM token_keys)`,
  );
  const removal = await rotation.nextStep<Step>(ring);
  expect([removal.step, removal.token_keys]).toEqual([3, ring.split(',')[0]]);
  await rollOut(removal.token_keys);
  await loadGoesOn(5);

  load.ends = true;
  await failure;
  expect(refused).toEqual([]);
  const listed = await runOperator(['keys', 'list', '--json'], rotation.env);
  expect(JSON.parse(listed.stdout)).toMatchObject({ keys: [{ missing_in: [] }], problems: [] });
}, 600_000);
