import { ProxiesVariable } from './proxies.variable.js';
import { ChoiceVariable, NumberVariable } from './variables.js';

/** The environment of every service, as far as the bootstrap needs to know. */
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

  /** Whose X-Forwarded-* headers are believed; empty: nobody's. */
  @ProxiesVariable()
  TRUSTED_PROXIES = '';

  /** How many of them stand in a row between a client and us. */
  @NumberVariable(1, 10)
  TRUSTED_PROXY_HOPS = 1;

  /**
   * Seconds that a dependency has for an answer; a request that needs a late one gets 503. More than 10 would be longer
   * than caches remember what was revoked while they were fetching (STALE_MEMORY_MS), and notes of lost grants live (NOTED).
   */
  @NumberVariable(1, 10)
  DEPENDENCY_TIMEOUT = 2;

  /** The same in milliseconds, which the libraries take. */
  get dependencyTimeoutMs(): number {
    return this.DEPENDENCY_TIMEOUT * 1_000;
  }

  /** Where clients reach it. */
  abstract get publicUrl(): string;
}
