import type { Arbitrary } from 'fast-check';
import type { Actor } from './actor.js';
import type { Finding } from './answer-oracle.js';
import type { TestEnvironment } from './test-environment.js';

/** Counts an outcome: an endpoint or subject, and the status of its answer. */
export type Tally = (where: string, outcome: string) => void;

/** A transport over which the product is fuzzed. */
export interface Target<Recipe = unknown> {
  readonly name: 'http' | 'raw' | 'nats';
  /** Number of concurrent lanes, each with its own actor. */
  readonly lanes: number;
  readonly recipe: Arbitrary<Recipe>;
  run(recipe: Recipe, actor: Actor): Promise<Finding[]>;
  close(): Promise<void>;
}

export type OpenTarget = (environment: TestEnvironment, tally: Tally) => Promise<Target>;

/** Milliseconds that a server waits for a request (docs/configuration.md, Limits). */
export const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Milliseconds from the start of a connection. A server waits 10 s for a request, checks that once a second, and reads for
 * 1 s after an early answer (docs/configuration.md, Limits). Doubled for a busy machine.
 */
export const DEADLINE_MS = 24_000;
