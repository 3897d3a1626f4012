/** Where a process listens, as far as the bootstrap needs to know. */
export interface Listening {
  readonly HOST: string;
  readonly PORT: number;
  /** Health and readiness; never reached through the ingress. */
  readonly INTERNAL_PORT: number;
  readonly LOG_LEVEL: string;
  /** Where clients reach it. */
  readonly publicUrl: string;
  /** Addresses or ranges whose X-Forwarded-* headers are believed; empty: none. */
  readonly TRUSTED_PROXIES: string;
  /** How many of them stand in a row between a client and us. */
  readonly TRUSTED_PROXY_HOPS: number;
}
