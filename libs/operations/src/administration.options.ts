import type { AuditRetention } from '#audit/retention.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import type { ConfigurationFile } from '#platform/configuration/configuration-files.module.js';
import { ConfigurationError } from '#platform/configuration/load-configuration.js';

export interface AdministrationSettings {
  readonly databaseUrl: string;
  readonly databaseSchema: string;
  readonly natsUrl: string;
  /** URL with the NATS user of the audit trail; empty means `natsUrl`. */
  readonly auditNatsUrl: string;
  readonly authUrl: string;
  readonly baseUrl: string;
  readonly apiUrl: string;
  /** Name of the product, which names of applications must not imitate. */
  readonly productName: string;
  /** Empty without a console. */
  readonly consoleUrl: string;
  /** Only in the portal. */
  readonly developersUrl?: string;
  /** Claim with the groups that give operators their roles; empty if this service stores the roles. */
  readonly consoleGroupsClaim: string;
  /** Non-public hosts from which metadata documents may be fetched; the same value as in the services. */
  readonly outsideFetchAllow: string;
  /** Applied to the streams of the audit trail by `migrate`. */
  readonly auditRetention: AuditRetention;
}

/** Environment variables of settings, for the processes that read them and for messages that name them. */
export const SETTING_VARIABLES = {
  databaseUrl: 'DATABASE_URL',
  databaseSchema: 'DATABASE_SCHEMA',
  natsUrl: 'NATS_URL',
  auditNatsUrl: 'AUDIT_NATS_URL',
  authUrl: 'AUTH_URL',
  baseUrl: 'BASE_URL',
  apiUrl: 'API_URL',
  productName: 'PRODUCT_NAME',
  consoleUrl: 'CONSOLE_URL',
  consoleGroupsClaim: 'CONSOLE_GROUPS_CLAIM',
  outsideFetchAllow: 'OUTSIDE_FETCH_ALLOW',
} as const satisfies Partial<Record<keyof AdministrationSettings, string>>;

type NamedSetting = keyof typeof SETTING_VARIABLES;

export interface RetentionVariables {
  readonly AUDIT_RETENTION_DAYS: number;
  readonly AUDIT_MAX_MEGABYTES: number;
  readonly AUDIT_REPLICAS: number;
}

export type AdministrationVariables = RetentionVariables &
  Readonly<Record<(typeof SETTING_VARIABLES)[NamedSetting], string>>;

export function administrationSettings(variables: AdministrationVariables): AdministrationSettings {
  const named = Object.entries(SETTING_VARIABLES).map(([setting, variable]) => [
    setting,
    variables[variable],
  ]);
  return {
    ...(Object.fromEntries(named) as Record<NamedSetting, string>),
    auditRetention: auditRetention(variables),
  };
}

export function auditRetention(variables: RetentionVariables): AuditRetention {
  return {
    days: variables.AUDIT_RETENTION_DAYS,
    megabytes: variables.AUDIT_MAX_MEGABYTES,
    replicas: variables.AUDIT_REPLICAS,
  };
}

/** @returns the server of the audit trail, and the variable that has its URL */
export function trailServer({
  natsUrl,
  auditNatsUrl,
}: Pick<AdministrationSettings, 'natsUrl' | 'auditNatsUrl'>): { url: string; variable: string } {
  return auditNatsUrl === ''
    ? { url: natsUrl, variable: SETTING_VARIABLES.natsUrl }
    : { url: auditNatsUrl, variable: SETTING_VARIABLES.auditNatsUrl };
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
