export interface User {
  readonly email: string;
  readonly password: string;
}

/** Where a product is reached, and who uses it. */
export interface Installation {
  readonly authorizeUrl: string;
  /** Of each copy. */
  readonly tokenUrls: readonly string[];
  readonly resourceUrls: readonly string[];
  readonly client: {
    readonly client_id: string;
    readonly client_secret: string;
    readonly redirect_uri: string;
  };
  readonly users: readonly User[];
}
