/** The operator's input is wrong; nothing was written. Exit code 2. */
export class InputError extends Error {
  /** @param problems each says what is wrong and what to do, one a line */
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'InputError';
  }
}
