import { DependencyUnavailableError } from '../dependency-unavailable.error.js';
import { messageOf } from '../message-of.js';
import { withTimeout } from '../with-timeout.js';

type Check = () => Promise<unknown>;

const CHECK_TIMEOUT_MS = 2_000;

/**
 * Readiness of the process, for /readyz and metrics. The modules of Redis, NATS and PostgreSQL register their checks.
 */
export class Readiness {
  private readonly checks = new Map<string, Check | null>();
  private phase: 'start' | 'stop' | null = 'start';
  private latest: ReadonlyMap<string, string> | undefined;

  /** @param requiredDependencies dependencies that count as missing until their checks are registered */
  constructor(
    requiredDependencies: readonly string[] = [],
    private readonly optional: readonly string[] = [],
  ) {
    for (const dependency of requiredDependencies) this.checks.set(dependency, null);
  }

  /** @param check must reject, or take longer than two seconds, while the dependency is unavailable */
  register(dependency: string, check: Check): void {
    if (!this.optional.includes(dependency)) this.checks.set(dependency, check);
  }

  start(): void {
    this.phase = null;
  }

  /** Must be called before or when the shutdown begins, so that no new requests are routed to this process. */
  stop(): void {
    this.phase = 'stop';
  }

  get names(): readonly string[] {
    return [...this.checks.keys()];
  }

  /**
   * Returns the unavailable dependencies with the reasons, or else `start` during the startup or `stop` during the
   * shutdown.
   */
  async missing(): Promise<ReadonlyMap<string, string>> {
    const results = await Promise.all(
      [...this.checks].map(async ([dependency, check]) => [dependency, await problemOf(check)] as const),
    );
    const missing = results.flatMap(([name, reason]) => (reason === null ? [] : [[name, reason] as const]));
    this.latest = new Map(missing.length === 0 && this.phase ? [[this.phase, PHASES[this.phase]]] : missing);
    return this.latest;
  }

  /** Like `missing`, but returns the previous result if a dependency does not answer in time. */
  async missingWithin(limitMs: number): Promise<ReadonlyMap<string, string>> {
    if (this.phase === 'stop') return STOPPED;
    const missing = this.missing();
    return withTimeout(missing, limitMs).catch(() => this.latest ?? missing);
  }
}

const PHASES = { start: 'the process starts', stop: 'the process stops' };
const STOPPED: ReadonlyMap<string, string> = new Map([['stop', PHASES.stop]]);

async function problemOf(check: Check | null): Promise<string | null> {
  if (!check) return 'not connected yet';
  return withTimeout(check(), CHECK_TIMEOUT_MS).then(
    () => null,
    (error: unknown) => messageOf(error instanceof DependencyUnavailableError ? error.cause : error),
  );
}
