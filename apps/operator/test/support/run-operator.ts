import { type ChildProcess, fork, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { once } from 'node:events';
import { NODE_ARGUMENTS } from '#test/support/built.js';

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
  const child = spawn(process.execPath, [...NODE_ARGUMENTS, MAIN, ...args], {
    env: { PATH: process.env.PATH, ...env },
  });
  // The command may exit before it reads its input.
  child.stdin.on('error', () => undefined).end(stdin);
  const ended = new Promise<number | null>((done) => child.on('close', done));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
}

/** Requires success and an empty stderr. @returns the output of --json */
export function jsonOf({ code, stdout, stderr }: Outcome): unknown {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

/** Requires exit code 2, a matching message and an empty stdout. */
export function expectRefused({ code, stdout, stderr }: Outcome, problem: RegExp): void {
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(problem);
}

/** Removes client ids, whose random letters may form any word. */
export function withoutIds(text: string): string {
  return text.replaceAll(/sc_[a-z2-7]{24}/g, '');
}

const HOST = resolve('apps/operator/test/support/command-host-process.mjs');
let host: ChildProcess | undefined;
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs built commands sequentially in one process per Jest worker. One process per command is a hundred times slower.
 * Does not test the exit of the process.
 * @param env complete environment except PATH
 */
export function runCommand(args: readonly string[], env: NodeJS.ProcessEnv, stdin = ''): Promise<Outcome> {
  const outcome = last.then(() => ask({ args, settings: env, stdin }));
  last = outcome.catch(() => undefined);
  return outcome;
}

async function ask(command: object): Promise<Outcome> {
  host ??= fork(HOST, { execArgv: [] });
  host.ref();
  host.channel?.ref();
  const answered = once(host, 'message');
  host.send(command);
  const [outcome] = (await answered) as [Outcome];
  // Allows the worker to exit. The host then also exits, because its channel closes.
  host.unref();
  host.channel?.unref();
  return outcome;
}
