import { devNull } from 'node:os';
import { startGuarded } from '#local/servers/guarded-process.js';
import { until } from './until.js';

const READY_WITHIN_MS = 60_000;

export interface RunningProgram {
  readonly output: () => string;
  readonly stop: () => Promise<void>;
}

/**
 * Starts a program with an HTTP server. Resolves when no URL returns 503 or no response.
 * @throws Error with the output if the program ends, or is not ready in time
 */
export async function startProgram(
  name: string,
  [command, ...args]: readonly [string, ...string[]],
  { urls, ...place }: { cwd: string; env: NodeJS.ProcessEnv; urls: readonly string[] },
): Promise<RunningProgram> {
  let output = '';
  const program = startGuarded({
    name,
    command,
    args,
    ...place,
    logFile: devNull,
    onOutput: (text) => (output += text),
    signal: 'SIGTERM',
    grace: 10_000,
  });
  const ended = program.ended.then((how) => Promise.reject(new Error(`${name} ended (${how})`)));
  ended.catch(() => undefined);
  const answers = until(`${name} answers`, READY_WITHIN_MS, async () => {
    const responses = await Promise.all(urls.map((url) => fetch(url, { redirect: 'manual' })));
    return responses.every(({ status }) => status !== 503);
  });
  try {
    await Promise.race([answers, ended]);
  } catch (error) {
    await program.stop();
    throw new Error(`${(error as Error).message}: ${output}`, { cause: error });
  }
  return { output: () => output, stop: () => program.stop() };
}
