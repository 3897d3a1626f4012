import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';

const MAIN = resolve('dist/apps/operator.cjs');

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the built command as a separate process. @param env complete environment except PATH */
export async function runOperator(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  stdin: string | Buffer = '',
): Promise<Outcome> {
  const child = spawn(process.execPath, [MAIN, ...args], { env: { PATH: process.env.PATH, ...env } });
  // The command may exit before it reads its input.
  child.stdin.on('error', () => undefined).end(stdin);
  const ended = new Promise<number | null>((done) => child.on('close', done));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
}
