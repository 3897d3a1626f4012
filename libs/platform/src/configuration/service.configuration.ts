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

  /** Proxies whose X-Forwarded-* headers are believed; empty: none. */
  @ProxiesVariable()
  TRUSTED_PROXIES = '';

  /** How many of them stand in a row between a client and us. */
  @NumberVariable(1, 10)
  TRUSTED_PROXY_HOPS = 1;

  /**
   * Seconds within which a dependency must answer; else the request gets 503. More than 10 would exceed the time for which
   * caches remember revocations that arrive during a fetch (STALE_MEMORY_MS), and for which lost grants are noted (NOTED).
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
