import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import type { Outcome } from './run-operator.js';

const HOST = resolve('apps/operator/test/support/command-host-process.mjs');

/**
 * Runs built commands sequentially in one process, a hundred times faster than in separate processes. Does not test the exit of
 * the process.
 */
export class CommandHost {
  private readonly process: ChildProcess = fork(HOST, { execArgv: [] });

  private last: Promise<unknown> = Promise.resolve();

  /** @param env complete environment except PATH */
  run(args: readonly string[], env: NodeJS.ProcessEnv, stdin = ''): Promise<Outcome> {
    const outcome = this.last.then(() => this.ask({ args, settings: env, stdin }));
    this.last = outcome.catch(() => undefined);
    return outcome;
  }

  private async ask(command: object): Promise<Outcome> {
    const answered = once(this.process, 'message');
    this.process.send(command);
    const [outcome] = (await answered) as [Outcome];
    return outcome;
  }

  async close(): Promise<void> {
    const ended = once(this.process, 'exit');
    this.process.disconnect();
    await ended;
  }
}
