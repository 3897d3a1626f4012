import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { NODE_ARGUMENTS } from '#test/support/built.js';
import { type Outcome, ownEnvironment } from './outcome.js';

const MAIN = resolve('dist/apps/operator.cjs');

/**
 * Runs the built command as a separate process, which takes ten times the CPU time of `runCommand`.
 * @param env complete environment except PATH
 */
export async function runOperator(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  stdin: string | Buffer = '',
): Promise<Outcome> {
  const child = spawn(process.execPath, [...NODE_ARGUMENTS, MAIN, ...args], {
    env: { PATH: process.env.PATH, ...ownEnvironment(args, env) },
  });
  // The command may exit before it reads its input.
  child.stdin.on('error', () => undefined).end(stdin);
  const ended = new Promise<number | null>((done) => child.on('close', done));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
}
