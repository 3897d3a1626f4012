import { idOf } from '../oauth-error.js';
import type { ProofReasons, Reason } from '../reasons.js';

/** Compared values, for the operator's log. */
type Compared = Readonly<Record<string, string>>;

export class InvalidProofError extends Error {
  readonly compared: Compared;

  constructor(
    readonly reason: Reason<ProofReasons>,
    { cause, compared = {} }: { readonly cause?: unknown; readonly compared?: Compared } = {},
  ) {
    super(`invalid DPoP proof: ${idOf(reason)}`, { cause });
    this.name = 'InvalidProofError';
    this.compared = compared;
  }
}
