/** Runs an action immediately, but at most once per interval. Further calls are deferred to the interval's end. */
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
    this.timer = undefined;
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
