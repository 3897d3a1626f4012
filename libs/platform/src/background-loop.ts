import { AsyncResource } from 'node:async_hooks';
import { messageOf } from './errors.js';

/** Milliseconds until the next run, and until the retry of a failed run. */
export abstract class LoopIntervals {
  abstract readonly pass: number;
  abstract readonly retry: number;
}

/** Repeats a task. Reports the first of consecutive failures. */
export class BackgroundLoop {
  /** Runs the task now, unless the task is running. Bound, so that a run does not join the trace of the caller. */
  readonly run = AsyncResource.bind(() => void this.runNow());
  private timer: NodeJS.Timeout | undefined;
  private isRunning = false;
  private isFailing = false;
  private isStopped = false;

  constructor(
    private readonly task: () => Promise<void>,
    private readonly intervals: LoopIntervals,
    private readonly onFailure: (reason: string) => void,
  ) {}

  /** Prevents further runs. Does not interrupt a current run. */
  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  private async runNow(): Promise<void> {
    if (this.isRunning || this.isStopped) return;
    this.isRunning = true;
    clearTimeout(this.timer);
    const waitMs = await this.pass();
    this.isRunning = false;
    if (!this.isStopped) this.timer = setTimeout(this.run, waitMs).unref();
  }

  private async pass(): Promise<number> {
    try {
      await this.task();
      this.isFailing = false;
      return this.intervals.pass;
    } catch (error) {
      if (!this.isFailing && !this.isStopped) this.onFailure(messageOf(error));
      this.isFailing = true;
      return this.intervals.retry;
    }
  }
}
