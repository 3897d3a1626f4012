import { DependencyUnavailableError } from '../dependency-unavailable.error.js';
import type { RedisClient } from './redis-client.js';

/** @throws DependencyUnavailableError for every driver error; the command may have been executed nevertheless */
export async function withRedisErrors<T>(command: Promise<T>): Promise<T> {
  try {
    return await command;
  } catch (cause) {
    throw new DependencyUnavailableError('redis', cause);
  }
}

/** Runs a script on keys of one slot in one round trip. @throws DependencyUnavailableError */
export type RunScript<Name extends string> = (
  name: Name,
  keys: readonly string[],
  ...args: (string | number)[]
) => Promise<unknown>;

type Command = (keys: number, ...args: (string | number)[]) => Promise<unknown>;

/**
 * Defines the Lua scripts of a store; ioredis sends a script's text once, then its hash. @param scripts sources by name, unique
 * in the process
 */
export function defineScripts<Name extends string>(
  redis: RedisClient,
  scripts: Readonly<Record<Name, string>>,
): RunScript<Name> {
  for (const [name, lua] of Object.entries<string>(scripts)) redis.defineCommand(name, { lua });
  const commands = redis as unknown as Record<Name, Command>;
  return (name, keys, ...args) => withRedisErrors(commands[name](keys.length, ...keys, ...args));
}
