import { IsIn } from 'class-validator';
import type { Settings } from '../status/status-report.js';
import { IsAuditUrl, IsOneOf, IsWholeNumber, IsProxies, IsUrls } from './variables.js';

export abstract class ServiceConfiguration {
  /** In production, the URLs of web servers must be https. */
  @IsOneOf('development', 'test', 'production') NODE_ENV = 'development';
  HOST = '0.0.0.0';
  @IsWholeNumber(0, 65_535) PORT: number;

  /** Port for health, readiness and metrics, which the ingress does not expose. */
  @IsWholeNumber(0, 65_535) INTERNAL_PORT: number;
  @IsOneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent') LOG_LEVEL = 'info';

  /** Standard OpenTelemetry variable. If it is empty, a variable for the endpoint enables traces. */
  @IsIn(['', 'otlp', 'none'], { message: '$property must be otlp or none' }) OTEL_TRACES_EXPORTER = '';
  @IsProxies() TRUSTED_PROXIES = '';

  @IsWholeNumber(1, 10) TRUSTED_PROXY_HOPS = 1;

  @IsUrls('nats', 'tls') NATS_URL: string;

  /** URL with the NATS user of the audit trail; empty to use NATS_URL. */
  @IsAuditUrl() AUDIT_NATS_URL = '';

  /** Records each request's address and user agent, which are personal data, in the audit trail. */
  @IsOneOf('true', 'false') AUDIT_CLIENT_ADDRESS = 'false';

  /**
   * Seconds to wait for Redis or NATS before the request gets 503; PostgreSQL has a multiple (`requestLimits`). At most
   * 10, because Redis marks a missing grant for 60 s (MARKER_TTL).
   */
  @IsWholeNumber(1, 10) DEPENDENCY_TIMEOUT = 2;

  get dependencyTimeoutMs(): number {
    return this.DEPENDENCY_TIMEOUT * 1_000;
  }

  get auditUrl(): string {
    return this.AUDIT_NATS_URL || this.NATS_URL;
  }

  abstract get publicUrl(): string;
}

export function settingsOf<Configuration extends object>(
  configuration: Configuration,
  variables: readonly (keyof Configuration & string)[],
): Settings {
  return Object.fromEntries(variables.map((name) => [name, configuration[name] as string | number]));
}
