/** Injection token of the library's options. */
export const INTROSPECTION_OPTIONS = Symbol('introspection options');

export interface IntrospectionOptions {
  /** `nats://[user:password@]host:port[,nats://…]`: the NATS of the token app. */
  readonly natsUrl: string;
  /** Name of the connection in the monitoring of the NATS server; `api` when absent. */
  readonly name?: string;
  /** How long a request waits for the token app, in milliseconds; 2000 when absent. */
  readonly timeoutMs?: number;
  /** URL of the API's metadata (RFC 9728), which every challenge names. */
  readonly resourceMetadata?: string;
  /**
   * Where clients reach the API, with no slash at its end (`https://api.example.com`): what the `htu` of a DPoP proof
   * must begin with (RFC 9449). When it is absent the API accepts bearer tokens only.
   */
  readonly resourceUrl?: string;
  /** How long after its `iat` a proof is accepted, in seconds, at most 3600; 300 when absent. */
  readonly proofLifetime?: number;
  /** How far in the future the `iat` of a proof may be, in seconds; 5 when absent. */
  readonly clockSkew?: number;
}
