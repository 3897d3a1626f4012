import { idOf } from '../oauth-error.js';
import type { AssertionReasons, Reason } from '../reasons.js';

/** Compared values, for the operator's log. */
type Compared = Readonly<Record<string, string>>;

export class InvalidAssertionError extends Error {
  readonly compared: Compared;

  constructor(
    readonly reason: Reason<AssertionReasons>,
    compared: Compared = {},
  ) {
    super(`invalid client assertion: ${idOf(reason)}`);
    this.name = 'InvalidAssertionError';
    this.compared = compared;
  }
}
