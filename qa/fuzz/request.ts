import { setTimeout as sleep } from 'node:timers/promises';
import type { Actor } from './actor.js';
import { type Finding, checkExchange, type SentRequest } from './answer-oracle.js';
import { type Draft, targetOf } from './draft.js';
import { FUZZED_ENDPOINTS } from './endpoints/endpoints.js';
import { type Mutation, mutate } from './mutations.js';
import { DEADLINE_MS, REQUEST_TIMEOUT_MS, type Tally } from './target.js';
import { type Exchange, exchange, type Transmission } from './wire.js';
import type { TestEnvironment } from './test-environment.js';

/** A request as data. About one in five recipes has no mutations. */
export interface HttpRecipe {
  readonly endpoint: string;
  readonly variant: number;
  readonly mutations: readonly Mutation[];
}

export interface Prepared {
  readonly draft: Draft;
  readonly port: number;
  readonly sent: Omit<SentRequest, 'answers'>;
}

export async function prepare(
  { endpoint: name, variant, mutations }: HttpRecipe,
  actor: Actor,
  environment: TestEnvironment,
): Promise<Prepared> {
  const found = FUZZED_ENDPOINTS.find((endpoint) => endpoint.name === name);
  if (!found) throw new Error(`there is no endpoint ${name}`);
  const { app, internal, validStatuses } = found;
  const draft = await found.build(actor, variant);
  for (const change of mutations) await mutate(draft, change, actor);
  const username = draft.body?.fields.find((field) => field.name === 'username')?.value;
  return {
    draft,
    port: environment.port(app, internal),
    sent: {
      where: name,
      app,
      internal,
      method: draft.method,
      target: targetOf(draft),
      ...(typeof username === 'string' && { username }),
      ...(mutations.length === 0 && { validStatuses }),
    },
  };
}

export interface Transfer {
  readonly port: number;
  readonly sent: SentRequest;
  readonly transmission: Transmission;
}

/** Retries for a busy machine, where the product may be overloaded and requests may arrive too slowly. */
const MAX_ATTEMPTS = 3;
const PAUSE_MS = 2_000;

export async function sendAndCheck(
  { actor, environment, tally }: { actor: Actor; environment: TestEnvironment; tally: Tally },
  prepareTransfer: () => Promise<Transfer>,
): Promise<Finding[]> {
  for (let attempt = 1; ; attempt += 1) {
    const { port, sent, transmission } = await prepareTransfer();
    const result = await exchange(port, transmission, DEADLINE_MS);
    const [first] = result.answers;
    for (const answer of result.answers) actor.collectSecrets(answer);
    tally(sent.where, String(first?.status ?? result.end));
    if (!sent.validStatuses || !mayBeBusy(result) || attempt === MAX_ATTEMPTS)
      return checkExchange(sent, result, environment);
    await sleep(PAUSE_MS);
  }
}

/** Returns true after a 503, or after a 408 that the server's timeout caused. */
export function mayBeBusy({ answers: [first], milliseconds }: Exchange): boolean {
  return first?.status === 503 || (first?.status === 408 && milliseconds >= REQUEST_TIMEOUT_MS);
}
