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
    ({ constraints = {} }) => Object.values(constraints),
  );
  // A rule of several decorators, such as a number within bounds, is one problem.
  if (problems.length > 0) throw new ConfigurationError([...new Set(problems)].sort());
  return configuration;
}
