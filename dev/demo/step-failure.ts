/** A step of the demonstration did not go as it must. */
export class StepFailure extends Error {
  /** Number and name of the step, put in by the transcript. */
  step = '';

  /** Neither text has a whole secret in it once the transcript has shortened them. */
  constructor(
    readonly expected: string,
    readonly got: string,
    options?: ErrorOptions,
  ) {
    super(`expected ${expected}, got ${got}`, options);
    this.name = 'StepFailure';
  }
}

/** @throws StepFailure when the values differ */
export function mustBe(
  what: string,
  expected: string | number,
  got: string | number | null | undefined,
): void {
  if (got !== expected) throw new StepFailure(`${what} ${expected}`, `${what} ${got ?? '(none)'}`);
}
