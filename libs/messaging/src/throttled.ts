/** Runs an action immediately, and at most once per interval; a call within the interval is deferred to its end. */
export class Throttled {
  private timer: NodeJS.Timeout | undefined;
  private isDue = false;

  constructor(
    private readonly intervalMs: number,
    private readonly action: () => void,
  ) {}

  run(): void {
    if (this.timer) this.isDue = true;
    else this.act();
  }

  cancel(): void {
    clearTimeout(this.timer);
    this.isDue = false;
  }

  private act(): void {
    this.timer = setTimeout(() => {
      this.timer = undefined;
      if (this.isDue) this.act();
    }, this.intervalMs).unref();
    this.isDue = false;
    this.action();
  }
}
