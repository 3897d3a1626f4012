import { type AuditRetention, DEFAULT_AUDIT_RETENTION } from '#audit/retention.js';
import {
  AuditUrlVariable,
  DEFAULT_SCHEMA,
  DatabaseUrlVariable,
  KeysVariable,
  NumberVariable,
  OriginVariable,
  SchemaVariable,
  UrlsVariable,
} from '#platform/configuration/variables.js';

/** Needed by every command. */
export class DatabaseSettings {
  @DatabaseUrlVariable() DATABASE_URL: string;
  @SchemaVariable() DATABASE_SCHEMA = DEFAULT_SCHEMA;
}

/** Where the audit trail is. */
export interface TrailSettings {
  readonly NATS_URL: string;
  /** With the user of the trail; empty for NATS_URL. */
  readonly AUDIT_NATS_URL: string;
}

/** How much of the audit trail NATS keeps. */
export interface RetentionSettings {
  readonly AUDIT_RETENTION_DAYS: number;
  readonly AUDIT_MAX_MEGABYTES: number;
  readonly AUDIT_REPLICAS: number;
}

export function retentionOf(settings: RetentionSettings): AuditRetention {
  return {
    days: settings.AUDIT_RETENTION_DAYS,
    megabytes: settings.AUDIT_MAX_MEGABYTES,
    replicas: settings.AUDIT_REPLICAS,
  };
}

/** Needed by `migrate`. Without NATS it only migrates the database. */
export class MigrateSettings extends DatabaseSettings {
  @AuditUrlVariable() NATS_URL = '';
  /** With the administrator of the trail, who creates its streams. */
  @AuditUrlVariable() AUDIT_NATS_URL = '';
  @NumberVariable(1, 3650) AUDIT_RETENTION_DAYS = DEFAULT_AUDIT_RETENTION.days;
  /** MiB of the activity of users and applications; the other streams have a share of it each, in addition. */
  @NumberVariable(1, 1_000_000) AUDIT_MAX_MEGABYTES = DEFAULT_AUDIT_RETENTION.megabytes;
  /** Copies, each on another server of the NATS cluster. */
  @NumberVariable(1, 5) AUDIT_REPLICAS = DEFAULT_AUDIT_RETENTION.replicas;
}

/** Needed by commands whose change must reach running services or the audit trail. */
export class ChangeSettings extends DatabaseSettings {
  @UrlsVariable('nats', 'tls') NATS_URL: string;
  @AuditUrlVariable() AUDIT_NATS_URL = '';
}

/** Needed by `keys next`. */
export class KeySettings extends ChangeSettings {
  /** The present value: in no other command's environment. */
  @KeysVariable() TOKEN_KEYS: string;
}

/** Needed by commands that print addresses of the token app. */
export class IssuerSettings extends DatabaseSettings {
  /** Origin of the token app, which is the issuer (RFC 8414 2). */
  @OriginVariable() BASE_URL: string;
}

/** Needed by `resource-server create`, which prints the address of the introspection endpoint. */
export class ResourceServerSettings extends IssuerSettings {
  @UrlsVariable('nats', 'tls') NATS_URL: string;
  @AuditUrlVariable() AUDIT_NATS_URL = '';
}

/** Needed by `client create`, which prints the addresses of the endpoints. */
export class RegistrationSettings extends IssuerSettings {
  /** Origin of the authorize app. */
  @OriginVariable() AUTH_URL: string;
  @UrlsVariable('nats', 'tls') NATS_URL: string;
  @AuditUrlVariable() AUDIT_NATS_URL = '';
}

/** Needed by `client handover`, which prints the addresses of the endpoints and of the API, and asks the services for their times. */
export class HandoverSettings extends IssuerSettings {
  /** Origin of the authorize app. */
  @OriginVariable() AUTH_URL: string;
  /** Origin of the resource app. */
  @OriginVariable() API_URL: string;
  @UrlsVariable('nats', 'tls') NATS_URL: string;
}

/** Needed by `doctor`, which examines all of it. The limits are those that `migrate` has set. */
export class DoctorSettings extends HandoverSettings {
  @AuditUrlVariable() AUDIT_NATS_URL = '';
  @NumberVariable(1, 3650) AUDIT_RETENTION_DAYS = DEFAULT_AUDIT_RETENTION.days;
  @NumberVariable(1, 1_000_000) AUDIT_MAX_MEGABYTES = DEFAULT_AUDIT_RETENTION.megabytes;
  @NumberVariable(1, 5) AUDIT_REPLICAS = DEFAULT_AUDIT_RETENTION.replicas;
}
