export interface AuditRetention {
  readonly days: number;
  /** Limit for the activity of the token app; each other stream has a share of it in addition. */
  readonly megabytes: number;
  /** Number of copies of a stream, each on a different NATS server. */
  readonly replicas: number;
}

export const DEFAULT_AUDIT_RETENTION: AuditRetention = { days: 90, megabytes: 1024, replicas: 1 };
