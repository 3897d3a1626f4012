import type { Next, Problem, ProblemId, Problems } from '#platform/validation/problem.js';
import { CLIENT_PROBLEMS } from './client-problems.js';
import { CONSOLE_PROBLEMS } from './console-problems.js';
import { EVENT_PROBLEMS } from './event-problems.js';
import { INPUT_PROBLEMS } from './input-problems.js';
import { REGISTRATION_PROBLEMS } from './registration-problems.js';
import { OPERATION_PROBLEMS } from './operation-problems.js';
import { REQUEST_PROBLEMS } from './request-problems.js';
import { SCOPE_PROBLEMS } from './scope-problems.js';
import { USER_PROBLEMS } from './user-problems.js';
import type { ProblemEntries, ProblemEntry } from './problem-entry.js';

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
  const { text } = entryOf(problem);
  const place = problem.line === undefined ? '' : `line ${problem.line}: `;
  return place + text({ field: nameOf(fieldOf(problem) ?? ''), values: problem.values, nameOf });
}

export function describeProblems(
  { problems }: { readonly problems: readonly Problem[] },
  nameOf: (field: string) => string,
): string[] {
  return problems.map((problem) => describeProblem(problem, nameOf));
}

/** Returns the command that helps, for operators. */
export function nextOf(problem: Problem): Next | undefined {
  return entryOf(problem).next?.(problem.values);
}

/** Returns undefined if the problem is about no single field. */
export function fieldOf(problem: Problem): string | undefined {
  return problem.path.findLast((part) => typeof part === 'string');
}

function entryOf(problem: Problem): Exclude<ProblemEntry<Problems[ProblemId]>, (...given: never) => string> {
  const entry = ENTRIES[problem.id] as ProblemEntry<Problems[ProblemId]>;
  return typeof entry === 'function' ? { text: entry } : entry;
}
