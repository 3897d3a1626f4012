export interface AuditRetention {
  readonly days: number;
  /** Limit for the activity of the token app; each other stream has a share of it in addition. */
  readonly megabytes: number;
  /** Each on another server of the NATS cluster. */
  readonly replicas: number;
}

export const DEFAULT_AUDIT_RETENTION: AuditRetention = { days: 90, megabytes: 1024, replicas: 1 };
