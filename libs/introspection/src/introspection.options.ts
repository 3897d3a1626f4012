import type { ConnectionOptions } from '#platform/nats/nats.module.js';

/** Injection token of the library's options. */
export const INTROSPECTION_OPTIONS = Symbol('introspection options');

export interface IntrospectionOptions extends ConnectionOptions {
  /** Address of the resource's RFC 9728 metadata, named in every challenge. */
  readonly resourceMetadata?: string;
  /**
   * Where clients reach the API, with no slash at its end (`https://api.example.com`): what the `htu` of a DPoP proof
   * must begin with (RFC 9449). Without it only bearer tokens are taken.
   */
  readonly resourceUrl?: string;
  /** For how long after its `iat` a proof is taken, in seconds, at most 3600; 300 when absent. */
  readonly proofLifetime?: number;
  /** How far in the future its `iat` may be, in seconds; 5 when absent. */
  readonly clockSkew?: number;
}
