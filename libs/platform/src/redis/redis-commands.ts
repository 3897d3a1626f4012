import { DependencyUnavailableError } from '../dependency-unavailable.error.js';
import type { RedisClient } from './redis-client.js';

/**
 * The reply to a command.
 *
 * @throws DependencyUnavailableError for every error of the driver; the command may have been executed all the same
 */
export async function replyTo<T>(command: Promise<T>): Promise<T> {
  try {
    return await command;
  } catch (cause) {
    throw new DependencyUnavailableError('redis', cause);
  }
}

/** Runs a script on keys of one slot, in one round trip. @throws DependencyUnavailableError as `replyTo` */
export type RunScript<Name extends string> = (
  name: Name,
  keys: readonly string[],
  ...args: (string | number)[]
) => Promise<unknown>;

type Command = (keys: number, ...args: (string | number)[]) => Promise<unknown>;

/** Defines the Lua scripts of a store. Redis gets the text of a script once, then its hash. @param scripts texts by name, which is unique in the process */
export function defineScripts<Name extends string>(
  redis: RedisClient,
  scripts: Readonly<Record<Name, string>>,
): RunScript<Name> {
  for (const [name, lua] of Object.entries<string>(scripts)) redis.defineCommand(name, { lua });
  const commands = redis as unknown as Record<Name, Command>;
  return (name, keys, ...args) => replyTo(commands[name](keys.length, ...keys, ...args));
}
