import type { Arbitrary } from 'fast-check';
import type { Actor } from './actor.js';
import type { Finding } from './answer-oracle.js';
import type { TestEnvironment } from './test-environment.js';

export type Tally = (where: string, outcome: string) => void;

export interface Target<Recipe = unknown> {
  readonly name: 'http' | 'raw' | 'nats';
  /** Number of concurrent lanes. Each lane has a separate actor. */
  readonly lanes: number;
  readonly recipe: Arbitrary<Recipe>;
  run(recipe: Recipe, actor: Actor): Promise<Finding[]>;
  close(): Promise<void>;
}

export type OpenTarget = (environment: TestEnvironment, tally: Tally) => Promise<Target>;

/** Time in which a server must receive a whole request (docs/configuration.md, Limits). */
export const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Twice the longest time until the server closes a connection: 10 s for a request, 1 s until the next check, and 1 s
 * after an early response.
 */
export const DEADLINE_MS = 24_000;
