import type { Next, ProblemId, Problems } from '#platform/validation/problem.js';

interface Given<Values> {
  /** Option, label or member of the invalid field. */
  readonly field: string;
  readonly values: Values;
  readonly nameOf: (field: string) => string;
}

type ProblemText<Values> = (given: Given<Values>) => string;

/** Text of a problem, which says what to do, and for operators the command that helps. */
export type ProblemEntry<Values> =
  | ProblemText<Values>
  | { readonly text: ProblemText<Values>; readonly next?: (values: Values) => Next | undefined };

export type ProblemEntries<Ids extends ProblemId> = {
  readonly [Id in Ids]: ProblemEntry<Problems[Id]>;
};
