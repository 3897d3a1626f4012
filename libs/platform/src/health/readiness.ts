type Check = () => Promise<unknown>;

const CHECK_TIMEOUT_MS = 2_000;

/** What this process needs before it can serve. Dependencies register here; the internal port asks. */
export class Readiness {
  private readonly checks = new Map<string, Check | null>();
  private under: 'start' | 'stop' | null = 'start';

  /** @param needs dependencies that count as missing until somebody can ask them: a process waits for them at its start */
  constructor(needs: readonly string[] = []) {
    for (const dependency of needs) this.checks.set(dependency, null);
  }

  /** `check` rejects, or does not answer in two seconds, while the dependency cannot be used. */
  add(dependency: string, check: Check): void {
    this.checks.set(dependency, check);
  }

  /** The process listens. */
  start(): void {
    this.under = null;
  }

  /** The process answers what it has been asked, and wants no more. */
  stop(): void {
    this.under = 'stop';
  }

  /** The dependencies known so far. */
  get names(): readonly string[] {
    return [...this.checks.keys()];
  }

  /**
   * The dependencies that cannot be used just now; empty means ready. `start` and `stop` stand for the process itself
   * on its way up or down, although nothing is missing.
   */
  async missing(): Promise<string[]> {
    const results = await Promise.all(
      [...this.checks].map(async ([dependency, check]) =>
        check && (await answers(check)) ? [] : [dependency],
      ),
    );
    const missing = results.flat();
    return missing.length === 0 && this.under ? [this.under] : missing;
  }
}

async function answers(check: Check): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), CHECK_TIMEOUT_MS);
  });
  try {
    return await Promise.race([check().then(() => true), late]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
