/** An API that may introspect tokens over HTTP (RFC 7662 2.1). */
export interface ResourceServer {
  /** `rs_` and 24 lower-case base32 characters: the user name of its HTTP Basic credentials. */
  readonly id: string;
  readonly name: string;
  /** As of a client, though there is one only: an account is replaced by making a second one. */
  readonly secrets: readonly { readonly id: string; readonly hash: Buffer }[];
  readonly createdAt: Date;
}
