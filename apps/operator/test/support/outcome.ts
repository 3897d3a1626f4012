import type { Outcome } from './run-operator.js';

/** Requires success and an empty stderr. @returns the output of --json */
export function jsonOf({ code, stdout, stderr }: Outcome): unknown {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

/** Requires exit code 2, a matching message and an empty stdout. */
export function expectRefused({ code, stdout, stderr }: Outcome, problem: RegExp): void {
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(problem);
}

/** Removes client ids, whose 24 letters may form any word. */
export function withoutIds(text: string): string {
  return text.replaceAll(/sc_[a-z2-7]{24}/g, '');
}
