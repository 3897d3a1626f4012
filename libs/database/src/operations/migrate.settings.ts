import { DEFAULT_AUDIT_RETENTION } from '#audit/retention.js';
import {
  AuditUrlVariable,
  DatabaseUrlVariable,
  DEFAULT_SCHEMA,
  NumberVariable,
  SchemaVariable,
} from '#platform/configuration/variables.js';

/** Settings of `migrate`, which migrates only the database if NATS is not configured. */
export class MigrateSettings {
  @DatabaseUrlVariable() DATABASE_URL: string;
  @SchemaVariable() DATABASE_SCHEMA = DEFAULT_SCHEMA;
  @AuditUrlVariable() NATS_URL = '';
  /** Contains the credentials of the NATS user that may create the streams of the audit trail. */
  @AuditUrlVariable() AUDIT_NATS_URL = '';
  @NumberVariable(1, 3650) AUDIT_RETENTION_DAYS = DEFAULT_AUDIT_RETENTION.days;
  /** Size limit in MiB of the token activity stream; the other streams get fractions of it in addition. */
  @NumberVariable(1, 1_000_000) AUDIT_MAX_MEGABYTES = DEFAULT_AUDIT_RETENTION.megabytes;
  @NumberVariable(1, 5) AUDIT_REPLICAS = DEFAULT_AUDIT_RETENTION.replicas;
}
