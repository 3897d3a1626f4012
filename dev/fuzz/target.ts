import type { Arbitrary } from 'fast-check';
import type { Actor } from './actor.js';
import type { Finding } from './answer-oracle.js';
import type { World } from './world.js';

/** Counts an outcome: an endpoint or subject, and the status of its answer. */
export type Tally = (where: string, outcome: string) => void;

/** One way to reach the product. */
export interface Target<Recipe = unknown> {
  readonly name: 'http' | 'raw' | 'nats';
  /** How many run side by side, each with an actor of its own. */
  readonly lanes: number;
  readonly recipe: Arbitrary<Recipe>;
  run(recipe: Recipe, actor: Actor): Promise<Finding[]>;
  close(): Promise<void>;
}

export type OpenTarget = (world: World, tally: Tally) => Promise<Target>;

/**
 * Milliseconds from the beginning of a connection: 10 s for a request to arrive, looked at each second, 1 s for what is still on
 * its way after an answer (docs/configuration.md, Limits), and as much again for a busy machine.
 */
export const DEADLINE_MS = 24_000;
