import { describeProblem, describeProblems } from '#error-guide/problems/describe-problem.js';
import { messageOf } from '#platform/errors.js';
import { type Problem } from '#platform/validation/problem.js';
import { AdministrationError } from '#platform/validation/administration.error.js';

/**
 * Returns the text of a failure for operators. The message of an AdministrationError has only the ids of its problems.
 */
export function failureText(error: unknown): string {
  return error instanceof AdministrationError
    ? describeProblems(error, (field) => field).join('; ')
    : messageOf(error);
}

/** Returns the text of a warning about a completed operation. */
export function warningText(warning: Problem): string {
  return describeProblem(warning, (field) => field);
}
