/** Where a process listens, as far as the bootstrap needs to know. */
export interface Listening {
  readonly HOST: string;
  readonly PORT: number;
  /** Health and readiness; never reached through the ingress. */
  readonly INTERNAL_PORT: number;
  readonly LOG_LEVEL: string;
  /** Addresses or ranges whose X-Forwarded-* headers are believed; empty: none. */
  readonly TRUSTED_PROXIES: string;
}
