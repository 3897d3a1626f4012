import { IsIn } from 'class-validator';
import type { Settings } from '../status/status-report.js';
import { ChoiceVariable, NumberVariable, ProxiesVariable } from './variables.js';

/** The environment variables of every service. */
export abstract class ServiceConfiguration {
  /** In production the origins must be https. */
  @ChoiceVariable('development', 'test', 'production')
  NODE_ENV = 'development';

  HOST = '0.0.0.0';

  @NumberVariable(0, 65_535)
  PORT: number;

  /** Health, readiness and metrics; never reached through the ingress. */
  @NumberVariable(0, 65_535)
  INTERNAL_PORT: number;

  @ChoiceVariable('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent')
  LOG_LEVEL = 'info';

  /** OpenTelemetry's own variable; if it is empty, traces are on when an endpoint is set. */
  @IsIn(['', 'otlp', 'none'], { message: '$property must be otlp or none' })
  OTEL_TRACES_EXPORTER = '';

  /** Proxies whose X-Forwarded-* headers are trusted; empty for none. */
  @ProxiesVariable()
  TRUSTED_PROXIES = '';

  /** How many proxies in a row stand between a client and this service. */
  @NumberVariable(1, 10)
  TRUSTED_PROXY_HOPS = 1;

  /** Whether the audit trail has the address and the user agent of each request: personal data. */
  @ChoiceVariable('true', 'false')
  AUDIT_CLIENT_ADDRESS = 'false';

  /**
   * Seconds within which a dependency must answer; otherwise the request gets 503. At most 10, because caches remember
   * revocations that arrive during a fetch for 15 s (STALE_MEMORY_MS in trusted-cache.ts), and Redis marks a missing grant
   * for 60 s (MARKER_TTL in grant.store.ts).
   */
  @NumberVariable(1, 10)
  DEPENDENCY_TIMEOUT = 2;

  /** The same in milliseconds. */
  get dependencyTimeoutMs(): number {
    return this.DEPENDENCY_TIMEOUT * 1_000;
  }

  /** Origin where clients reach the service. */
  abstract get publicUrl(): string;
}

/** Some settings of a configuration, by their variables. */
export function settingsOf<Configuration extends object>(
  configuration: Configuration,
  variables: readonly (keyof Configuration & string)[],
): Settings {
  return Object.fromEntries(variables.map((name) => [name, configuration[name] as string | number]));
}
