import { AdministrationError } from '#operations/administration.error.js';
import { describeProblems } from '#error-guide/problems/describe-problem.js';

/** Returns the text of an error of an unavailable service, so that a page can show its other parts. */
export function unlessUnavailable(error: unknown): string {
  if (error instanceof AdministrationError && error.kind === 'unavailable')
    return describeProblems(error, (field) => field).join('; ');
  throw error;
}
