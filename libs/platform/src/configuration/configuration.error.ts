/** The environment does not describe a process that could run. Each problem names its variable and never its value. */
export class ConfigurationError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`the configuration is not complete:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigurationError';
  }
}
