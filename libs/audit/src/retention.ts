/** Limits of the trail. */
export interface AuditRetention {
  readonly days: number;
  /** For the activity that the token app records; the other streams have a share of it each, in addition. */
  readonly megabytes: number;
  /** Copies, each on another server of the NATS cluster. */
  readonly replicas: number;
}

export const DEFAULT_AUDIT_RETENTION: AuditRetention = { days: 90, megabytes: 1024, replicas: 1 };
