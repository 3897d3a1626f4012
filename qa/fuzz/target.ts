import type { Arbitrary } from 'fast-check';
import type { Actor } from './actor.js';
import type { Finding } from './answer-oracle.js';
import type { TestEnvironment } from './test-environment.js';

export type Tally = (where: string, outcome: string) => void;

export interface Target<Recipe = unknown> {
  readonly name: 'http' | 'raw' | 'nats';
  /** Concurrent lanes, each with its own actor. */
  readonly lanes: number;
  readonly recipe: Arbitrary<Recipe>;
  run(recipe: Recipe, actor: Actor): Promise<Finding[]>;
  close(): Promise<void>;
}

export type OpenTarget = (environment: TestEnvironment, tally: Tally) => Promise<Target>;

/** Time for which a server waits for a request (docs/configuration.md, Limits). */
export const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Twice the maximum: 10 s for a request, checked each second, and 1 s after an early answer
 * (docs/configuration.md, Limits).
 */
export const DEADLINE_MS = 24_000;
