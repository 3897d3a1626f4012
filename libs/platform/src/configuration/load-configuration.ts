import { validateSync } from 'class-validator';

/** Missing or invalid environment variables or files. Each problem names its variable and never contains a secret. */
export class ConfigurationError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`the configuration is not complete:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigurationError';
  }
}

/**
 * Reads the fields of `shape` from the environment. Decorators are the rules of the fields, and initial values are the
 * defaults. An empty variable counts as absent.
 * @param readers read the files that variables name; each reader may throw a ConfigurationError
 * @throws ConfigurationError listing every problem with the variables and from the readers
 */
export function loadConfiguration<T extends object>(
  shape: new () => T,
  env: NodeJS.ProcessEnv,
  readers: readonly ((configuration: T) => unknown)[] = [],
): T {
  const configuration = new shape();
  const defaults = { ...configuration } as Readonly<Record<string, unknown>>;
  // Always includes NODE_ENV, because rules of other variables depend on it.
  const given = ['NODE_ENV', ...Object.keys(defaults)].filter((name) => env[name]);
  for (const name of given) {
    const text = env[name] as string;
    Object.assign(configuration, { [name]: typeof defaults[name] === 'number' ? toNumber(text) : text });
  }
  const problems = validateSync(configuration, { skipMissingProperties: false }).flatMap(
    ({ property, constraints = {} }) =>
      Object.values(constraints).map((rule) => (given.includes(property) ? rule : missing(property, rule))),
  );
  // Removes duplicates, because `IsWholeNumber` applies three decorators with one message.
  const all = [...new Set(problems)].sort();
  for (const read of readers) all.push(...problemsOf(() => read(configuration), all.length === 0));
  if (all.length > 0) throw new ConfigurationError(all);
  return configuration;
}

/** @param valid false if variables are invalid, which may cause errors other than ConfigurationError */
function problemsOf(read: () => unknown, valid: boolean): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    if (valid) throw error;
    return [];
  }
}

/** Returns text that is not a number unchanged, so that the variable's rule rejects the text. */
function toNumber(text: string): number | string {
  return /^\d{1,15}$/.test(text) ? Number(text) : text;
}

function missing(variable: string, rule: string): string {
  const begin = `${variable} must be `;
  return rule.startsWith(begin) ? `${variable} is missing: it must be ${rule.slice(begin.length)}` : rule;
}
