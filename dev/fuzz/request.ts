import { setTimeout as sleep } from 'node:timers/promises';
import type { Actor } from './actor.js';
import { type Finding, judge, type Sent } from './answer-oracle.js';
import { type Draft, targetOf } from './draft.js';
import { FUZZED_ENDPOINTS } from './endpoints/endpoints.js';
import { type Mutation, mutate } from './mutations.js';
import { DEADLINE_MS, type Tally } from './target.js';
import { exchange, type Transmission } from './wire.js';
import type { World } from './world.js';

/** A good request, and what is wrong with it: nothing in some of five. */
export interface HttpRecipe {
  readonly endpoint: string;
  readonly variant: number;
  readonly mutations: readonly Mutation[];
}

export interface Prepared {
  readonly draft: Draft;
  readonly port: number;
  readonly sent: Omit<Sent, 'answers'>;
}

/** Makes the request of a recipe with what its actor has just now. */
export async function prepare(
  { endpoint: name, variant, mutations }: HttpRecipe,
  actor: Actor,
  world: World,
): Promise<Prepared> {
  const found = FUZZED_ENDPOINTS.find((one) => one.name === name);
  if (!found) throw new Error(`there is no endpoint ${name}`);
  const { app, internal, good } = found;
  const draft = await found.build(actor, variant);
  for (const change of mutations) await mutate(draft, change, actor);
  const username = draft.body?.fields.find((field) => field.name === 'username')?.value;
  return {
    draft,
    port: world.port(app, internal),
    sent: {
      where: name,
      app,
      internal,
      method: draft.method,
      target: targetOf(draft),
      ...(typeof username === 'string' && { username }),
      ...(mutations.length === 0 && { good }),
    },
  };
}

/** A request as it goes out, and what may come back. */
export interface Attempt {
  readonly port: number;
  readonly sent: Sent;
  readonly transmission: Transmission;
}

/** A good request that finds the product busy is made again: a machine that does much else may make it so. */
const ATTEMPTS = 3;
const PAUSE_MS = 2_000;

/** Sends a request and judges what comes back. */
export async function attempt(
  { actor, world, tally }: { actor: Actor; world: World; tally: Tally },
  make: () => Promise<Attempt>,
): Promise<Finding[]> {
  for (let tries = 1; ; tries += 1) {
    const { port, sent, transmission } = await make();
    const result = await exchange(port, transmission, DEADLINE_MS);
    const [first] = result.answers;
    for (const answer of result.answers) actor.learn(answer);
    tally(sent.where, String(first?.status ?? result.end));
    if (!sent.good || first?.status !== 503 || tries === ATTEMPTS) return judge(sent, result, world);
    await sleep(PAUSE_MS);
  }
}
