import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { ConfigurationError } from './configuration.error.js';

/**
 * Reads a process's configuration from its environment, once, at start. The class's fields are the variables'
 * names, its decorators their rules, its initial values their defaults; an empty variable counts as absent.
 *
 * @throws ConfigurationError that lists every problem, with no value in it.
 */
export function loadConfiguration<T extends object>(shape: new () => T, env: NodeJS.ProcessEnv): T {
  const present = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const configuration = plainToInstance(shape, present, { exposeDefaultValues: true });
  const problems = validateSync(configuration, { skipMissingProperties: false }).flatMap(
    ({ property, constraints = {} }) =>
      Object.values(constraints).map((rule) => (property in present ? rule : missing(property, rule))),
  );
  // A rule of several decorators, such as a number within bounds, is one problem.
  if (problems.length > 0) throw new ConfigurationError([...new Set(problems)].sort());
  return configuration;
}

/** "X must be …" as it is said of a variable that was not given at all. */
function missing(variable: string, rule: string): string {
  const begin = `${variable} must be `;
  return rule.startsWith(begin) ? `${variable} is missing: it must be ${rule.slice(begin.length)}` : rule;
}
