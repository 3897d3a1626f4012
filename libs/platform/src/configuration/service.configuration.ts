import { IsIn } from 'class-validator';
import type { Settings } from '../status/status-report.js';
import {
  AuditUrlVariable,
  ChoiceVariable,
  NumberVariable,
  ProxiesVariable,
  UrlsVariable,
} from './variables.js';

export abstract class ServiceConfiguration {
  /** In production, the URLs of web servers must be https. */
  @ChoiceVariable('development', 'test', 'production') NODE_ENV = 'development';
  HOST = '0.0.0.0';
  @NumberVariable(0, 65_535) PORT: number;

  /** Port for health, readiness and metrics, which the ingress does not expose. */
  @NumberVariable(0, 65_535) INTERNAL_PORT: number;
  @ChoiceVariable('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent') LOG_LEVEL = 'info';

  /** Standard OpenTelemetry variable. If it is empty, a variable for the endpoint enables traces. */
  @IsIn(['', 'otlp', 'none'], { message: '$property must be otlp or none' }) OTEL_TRACES_EXPORTER = '';
  @ProxiesVariable() TRUSTED_PROXIES = '';

  @NumberVariable(1, 10) TRUSTED_PROXY_HOPS = 1;

  @UrlsVariable('nats', 'tls') NATS_URL: string;

  /** URL with the NATS user of the audit trail; empty to use NATS_URL. */
  @AuditUrlVariable() AUDIT_NATS_URL = '';

  /** Records each request's address and user agent, which are personal data, in the audit trail. */
  @ChoiceVariable('true', 'false') AUDIT_CLIENT_ADDRESS = 'false';

  /**
   * Seconds to wait for Redis or NATS before the request gets 503; PostgreSQL has a multiple (`requestLimits`). At most
   * 10, because Redis marks a missing grant for 60 s (MARKER_TTL).
   */
  @NumberVariable(1, 10) DEPENDENCY_TIMEOUT = 2;

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
