import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import type { Outcome } from './run-operator.js';

const HOST = resolve('apps/operator/test/support/command-host-process.mjs');

/**
 * One process that runs many built commands, one after the other as they are asked for: each in a hundredth of the
 * time that a process of its own takes. It is not for what a process does at its end.
 */
export class CommandHost {
  private readonly process: ChildProcess = fork(HOST, { execArgv: [] });

  private last: Promise<unknown> = Promise.resolve();

  /** @param env the whole environment besides PATH */
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
