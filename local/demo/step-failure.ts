/** A step of the demonstration failed. */
export class StepFailure extends Error {
  /** Number and name of the step; the transcript sets it. */
  step = '';

  /** The transcript shortens secrets in both texts. */
  constructor(
    readonly expected: string,
    readonly got: string,
    options?: ErrorOptions,
  ) {
    super(`expected ${expected}, got ${got}`, options);
    this.name = 'StepFailure';
  }
}

/** @throws StepFailure if the values differ */
export function expectEqual(
  what: string,
  expected: string | number,
  got: string | number | null | undefined,
): void {
  if (got !== expected) throw new StepFailure(`${what} ${expected}`, `${what} ${got ?? '(none)'}`);
}
