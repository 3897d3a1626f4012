import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import { DependencyUnavailableError, messageOf } from '../errors.js';
import { withTimeout } from '../clock.js';

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

/** Same limits as on the public port. By default, Node waits five minutes for a request. */
const LIMITS = { requestTimeout: 10_000, headersTimeout: 10_000, connectionsCheckingInterval: 1_000 };

/**
 * Serves the internal port: `/healthz`, `/readyz` (503 with the missing dependencies and the reasons), and `/metrics`
 * for Prometheus.
 */
export async function serveHealth(
  readiness: Readiness,
  metrics: Registry,
  host: string,
  port: number,
): Promise<Server> {
  const server = createServer(LIMITS, (request, response) => {
    answer(request.url, readiness, metrics).then(
      ([status, type, body]) => send(response, status, type, body),
      () => send(response, 500, 'text/plain', ''),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  return server;
}

type Answer = [status: number, type: string, body: string];

async function answer(path: string | undefined, readiness: Readiness, metrics: Registry): Promise<Answer> {
  switch (path) {
    case '/healthz':
      return json(200, { status: 'ok' });
    case '/readyz': {
      const missing = await readiness.missing();
      return missing.size === 0
        ? json(200, { status: 'ready' })
        : json(503, {
            status: 'not ready',
            missing: [...missing.keys()],
            reasons: Object.fromEntries(missing),
          });
    }
    case '/metrics':
      return [200, metrics.contentType, await metrics.metrics()];
    default:
      return json(404, { status: 'not found' });
  }
}

function json(status: number, body: object): Answer {
  return [status, 'application/json', JSON.stringify(body)];
}

function send(response: ServerResponse, ...[status, type, body]: Answer): void {
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(body);
}
