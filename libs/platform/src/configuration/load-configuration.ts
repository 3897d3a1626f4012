import { validateSync } from 'class-validator';

/** The environment does not describe a process that can run. Each problem names its variable and never its value. */
export class ConfigurationError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`the configuration is not complete:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigurationError';
  }
}

/**
 * Reads a process's configuration from its environment, once, at start. The fields of the class are the variables, its
 * decorators their rules, its initial values their defaults. An empty variable counts as absent.
 *
 * @throws ConfigurationError that lists every problem
 */
export function loadConfiguration<T extends object>(shape: new () => T, env: NodeJS.ProcessEnv): T {
  const configuration = new shape();
  const defaults = { ...configuration } as Readonly<Record<string, unknown>>;
  // NODE_ENV always, because the rules of other variables depend on it.
  const given = ['NODE_ENV', ...Object.keys(defaults)].filter((name) => env[name]);
  for (const name of given) {
    const text = env[name] as string;
    Object.assign(configuration, { [name]: typeof defaults[name] === 'number' ? toNumber(text) : text });
  }
  const problems = validateSync(configuration, { skipMissingProperties: false }).flatMap(
    ({ property, constraints = {} }) =>
      Object.values(constraints).map((rule) => (given.includes(property) ? rule : missing(property, rule))),
  );
  // A rule of several decorators, such as a number within bounds, is one problem.
  if (problems.length > 0) throw new ConfigurationError([...new Set(problems)].sort());
  return configuration;
}

/** Text that is no number stays text, which the variable's rule refuses. */
function toNumber(text: string): number | string {
  return /^\d{1,15}$/.test(text) ? Number(text) : text;
}

/** Words "X must be …" for a variable that was not given at all. */
function missing(variable: string, rule: string): string {
  const begin = `${variable} must be `;
  return rule.startsWith(begin) ? `${variable} is missing: it must be ${rule.slice(begin.length)}` : rule;
}
