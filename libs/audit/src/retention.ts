export interface AuditRetention {
  readonly days: number;
  /** Size in MiB of the token app's activity stream; each other stream gets a fraction of this size in addition. */
  readonly megabytes: number;
  /** Number of copies of a stream, each on a different NATS server. */
  readonly replicas: number;
}

export const DEFAULT_AUDIT_RETENTION: AuditRetention = { days: 90, megabytes: 1024, replicas: 1 };
