import type { DPOP_CHECKS } from '../error-guide/dpop-checks.js';

export type ProofCheck = keyof typeof DPOP_CHECKS;

/** Compared values, for the operator's log. */
type Compared = Readonly<Record<string, string>>;

/** The message is sent to the client and never contains request data. */
export class InvalidProofError extends Error {
  readonly compared: Compared;

  constructor(
    readonly check: ProofCheck,
    readonly description: string,
    { cause, compared = {} }: { readonly cause?: unknown; readonly compared?: Compared } = {},
  ) {
    super(`invalid DPoP proof: ${description}`, { cause });
    this.name = 'InvalidProofError';
    this.compared = compared;
  }
}
