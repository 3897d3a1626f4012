import { DEFAULT_AUDIT_RETENTION } from '#audit/retention.js';
import {
  IsAuditUrl,
  IsDatabaseUrl,
  DEFAULT_SCHEMA,
  IsWholeNumber,
  IsSchema,
} from '#platform/configuration/variables.js';

/** Settings of `migrate`, which migrates only the database if NATS is not configured. */
export class MigrateSettings {
  @IsDatabaseUrl() DATABASE_URL: string;
  @IsSchema() DATABASE_SCHEMA = DEFAULT_SCHEMA;
  @IsAuditUrl() NATS_URL = '';
  /** Contains the credentials of the NATS user that may create the streams of the audit trail. */
  @IsAuditUrl() AUDIT_NATS_URL = '';
  @IsWholeNumber(1, 3650) AUDIT_RETENTION_DAYS = DEFAULT_AUDIT_RETENTION.days;
  /** Size limit in MiB of the token activity stream; the other streams get fractions of it in addition. */
  @IsWholeNumber(1, 1_000_000) AUDIT_MAX_MEGABYTES = DEFAULT_AUDIT_RETENTION.megabytes;
  @IsWholeNumber(1, 5) AUDIT_REPLICAS = DEFAULT_AUDIT_RETENTION.replicas;
}
