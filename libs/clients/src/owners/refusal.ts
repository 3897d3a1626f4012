import type { Problem } from '#platform/validation/problem.js';

/** Thrown by a store in a transaction if the stored state does not permit a step. */
export class Refusal extends Error {
  constructor(
    readonly kind: 'unknown' | 'conflict' | 'outdated',
    readonly problem: Problem,
  ) {
    super(problem.id);
    this.name = 'Refusal';
  }
}
