import type { ASSERTION_CHECKS } from '../error-guide/assertion-checks.js';

export type AssertionCheck = keyof typeof ASSERTION_CHECKS;

/** Compared values, for the operator's log. */
type Compared = Readonly<Record<string, string>>;

/** The message is sent to the client and never contains request data. */
export class InvalidAssertionError extends Error {
  readonly compared: Compared;

  constructor(
    readonly check: AssertionCheck,
    description: string,
    compared: Compared = {},
  ) {
    super(`the client_assertion is not accepted: ${description}`);
    this.name = 'InvalidAssertionError';
    this.compared = compared;
  }
}
