import type { AuditRetention } from '#audit/retention.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import type { ConfigurationFile } from '#platform/configuration/configuration-files.module.js';
import { ConfigurationError } from '#platform/configuration/load-configuration.js';

/** Settings of the streams of the audit trail, which `migrate` applies. */
export interface RetentionSettings {
  readonly AUDIT_RETENTION_DAYS: number;
  readonly AUDIT_MAX_MEGABYTES: number;
  readonly AUDIT_REPLICAS: number;
}

export interface AdministrationSettings extends RetentionSettings {
  readonly DATABASE_URL: string;
  readonly DATABASE_SCHEMA: string;
  readonly NATS_URL: string;
  /** URL with the NATS user of the audit trail; empty means NATS_URL. */
  readonly AUDIT_NATS_URL: string;
  readonly AUTH_URL: string;
  readonly BASE_URL: string;
  readonly API_URL: string;
  /** Name of the product, which names of applications must not imitate. */
  readonly PRODUCT_NAME: string;
  /** Empty without a console. */
  readonly CONSOLE_URL: string;
  /** Only in the portal. */
  readonly DEVELOPERS_URL?: string;
  /** Claim with the groups that give operators their roles; empty if this service stores the roles. */
  readonly CONSOLE_GROUPS_CLAIM: string;
  /** Non-public hosts from which metadata documents may be fetched; the same value as in the services. */
  readonly OUTSIDE_FETCH_ALLOW: string;
}

export function retentionOf(settings: RetentionSettings): AuditRetention {
  return {
    days: settings.AUDIT_RETENTION_DAYS,
    megabytes: settings.AUDIT_MAX_MEGABYTES,
    replicas: settings.AUDIT_REPLICAS,
  };
}

export type TrailSettings = Pick<AdministrationSettings, 'NATS_URL' | 'AUDIT_NATS_URL'>;

export function trailServer({ NATS_URL, AUDIT_NATS_URL }: TrailSettings): { url: string; variable: string } {
  return AUDIT_NATS_URL === ''
    ? { url: NATS_URL, variable: 'NATS_URL' }
    : { url: AUDIT_NATS_URL, variable: 'AUDIT_NATS_URL' };
}

export abstract class AdministrationOptions {
  /** Version in package.json; undefined if unknown. */
  readonly version?: string | undefined;

  /** Settings that no operation of the process needs may be absent. */
  abstract readonly settings: AdministrationSettings;

  /** @param apiUrl API of scopes without `resource` @throws ConfigurationError */
  abstract scopes(apiUrl?: string): ConfigurationFile<ScopeCatalogue>;
}

/** Returns null if this machine has no valid SCOPES_FILE. */
export function readableScopes(options: AdministrationOptions, apiUrl?: string): ScopeCatalogue | null {
  try {
    return options.scopes(apiUrl).value;
  } catch (error) {
    if (error instanceof ConfigurationError) return null;
    throw error;
  }
}
