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

/** Limits of one user, and of one application. */
export const OWNER_LIMITS = {
  /** Drafts and undecided requests of a user. */
  requests: 10,
  /** Applications in testing of an owner. */
  applications: 10,
  /** Testers of an application. */
  testers: 10,
  /** Open invitations of a user. */
  invitations: 20,
} as const;

declare module '#platform/validation/problem.js' {
  interface Problems {
    limit_reached: { readonly of: keyof typeof OWNER_LIMITS; readonly max: number };
  }
}
