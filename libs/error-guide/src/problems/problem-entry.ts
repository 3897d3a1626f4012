import type { Next, Problem, ProblemId, Problems } from '#platform/validation/problem.js';

interface Given<Values> {
  /** Option, label or member of the invalid field. */
  readonly field: string;
  readonly values: Values;
  readonly nameOf: (field: string) => string;
}

type ProblemText<Values> = (given: Given<Values>) => string;

/** Text of a problem, which says what to do, and for operators the command that helps. */
type ProblemEntry<Values> =
  | ProblemText<Values>
  | { readonly text: ProblemText<Values>; readonly next?: (values: Values) => Next | undefined };

export type ProblemEntries<Ids extends ProblemId> = {
  readonly [Id in Ids]: ProblemEntry<Problems[Id]>;
};

type Entry = ProblemEntry<Problems[ProblemId]>;

/** @param entries of every problem that can occur, for a process that does not load the others */
export function describeBy(
  entries: Partial<ProblemEntries<ProblemId>>,
  problem: Problem,
  nameOf: (field: string) => string,
): string {
  const { text } = entryOf(entries, problem);
  const place = problem.line === undefined ? '' : `line ${problem.line}: `;
  return place + text({ field: nameOf(fieldOfProblem(problem) ?? ''), values: problem.values, nameOf });
}

export function entryOf(
  entries: Partial<ProblemEntries<ProblemId>>,
  { id }: Problem,
): Exclude<Entry, (...given: never) => string> {
  const entry = entries[id] as Entry;
  return typeof entry === 'function' ? { text: entry } : entry;
}

/** Returns undefined if the problem is about no single field. */
export function fieldOfProblem({ path }: Problem): string | undefined {
  return path.findLast((part) => typeof part === 'string');
}
