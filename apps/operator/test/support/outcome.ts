import type { Outcome } from './run-operator.js';

/** What a command printed with --json, which said and did nothing else. */
export function jsonOf({ code, stdout, stderr }: Outcome): unknown {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

/** A command that was not understood: it says why, in these words among others, and prints nothing. */
export function expectRefused({ code, stdout, stderr }: Outcome, problem: RegExp): void {
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(problem);
}

/** What a command printed, without the clients' identifiers, whose 24 letters may form any word. */
export function withoutIds(text: string): string {
  return text.replaceAll(/sc_[a-z2-7]{24}/g, '');
}
