type Check = () => Promise<unknown>;

const CHECK_TIMEOUT_MS = 2_000;

/**
 * Readiness of the process for `/readyz` and the metrics. `RedisModule` and `NatsModule` register `redis` and `nats`, `DatabaseModule` registers
 * `postgres` and `migrations`.
 */
export class Readiness {
  private readonly checks = new Map<string, Check | null>();
  private phase: 'start' | 'stop' | null = 'start';

  /** @param requiredDependencies count as missing until their checks are registered, which may be after they connect */
  constructor(requiredDependencies: readonly string[] = []) {
    for (const dependency of requiredDependencies) this.checks.set(dependency, null);
  }

  /** @param check rejects, or takes longer than two seconds, while the dependency cannot be used */
  register(dependency: string, check: Check): void {
    this.checks.set(dependency, check);
  }

  /** Call when the process listens. */
  start(): void {
    this.phase = null;
  }

  /** Call when the process shuts down: it finishes its requests and should get no new ones. */
  stop(): void {
    this.phase = 'stop';
  }

  /** The dependencies known so far. */
  get names(): readonly string[] {
    return [...this.checks.keys()];
  }

  /**
   * The dependencies that cannot be used now; empty means ready. `start` or `stop` says that nothing is missing but the
   * process is starting or shutting down.
   */
  async missing(): Promise<string[]> {
    const results = await Promise.all(
      [...this.checks].map(async ([dependency, check]) =>
        check && (await answers(check)) ? [] : [dependency],
      ),
    );
    const missing = results.flat();
    return missing.length === 0 && this.phase ? [this.phase] : missing;
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
