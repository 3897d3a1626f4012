import { describeProblems } from '#error-guide/problems/describe-problem.js';
import { UnsafeStepError } from '#keys/operations/rotation.js';

/** Gives a refused step the text that operators read. */
export function described(error: unknown): unknown {
  if (!(error instanceof UnsafeStepError)) return error;
  const message = describeProblems(error, (field) => `--${field}`).join('; ');
  return Object.assign(error, { message });
}
