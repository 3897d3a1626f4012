import type { Next, Problem, ProblemId } from '#platform/validation/problem.js';
import { CLIENT_PROBLEMS, EVENT_PROBLEMS } from './client-problems.js';
import { CONSOLE_PROBLEMS, INPUT_PROBLEMS } from './input-problems.js';
import { REGISTRATION_PROBLEMS } from './registration-problems.js';
import { OPERATION_PROBLEMS } from './operation-problems.js';
import { REQUEST_PROBLEMS } from './request-problems.js';
import { SCOPE_PROBLEMS } from './scope-problems.js';
import { USER_PROBLEMS } from './user-problems.js';
import { describeBy, entryOf, type ProblemEntries } from './problem-entry.js';

const ENTRIES: ProblemEntries<ProblemId> = {
  ...INPUT_PROBLEMS,
  ...CLIENT_PROBLEMS,
  ...CONSOLE_PROBLEMS,
  ...EVENT_PROBLEMS,
  ...OPERATION_PROBLEMS,
  ...REGISTRATION_PROBLEMS,
  ...REQUEST_PROBLEMS,
  ...SCOPE_PROBLEMS,
  ...USER_PROBLEMS,
};

/** @param nameOf returns the name of a field where the reader gave it: an option, a label or a member */
export function describeProblem(problem: Problem, nameOf: (field: string) => string): string {
  return describeBy(ENTRIES, problem, nameOf);
}

export function describeProblems(
  { problems }: { readonly problems: readonly Problem[] },
  nameOf: (field: string) => string,
): string[] {
  return problems.map((problem) => describeProblem(problem, nameOf));
}

/** Returns the command that helps, for operators. */
export function nextOf(problem: Problem): Next | undefined {
  return entryOf(ENTRIES, problem).next?.(problem.values);
}
