export interface User {
  readonly email: string;
  readonly password: string;
}

/** The URLs of a deployment, with its client and users. */
export interface Installation {
  readonly authorizeUrl: string;
  /** One per replica. */
  readonly tokenUrls: readonly string[];
  readonly resourceUrls: readonly string[];
  readonly client: {
    readonly client_id: string;
    readonly client_secret: string;
    readonly redirect_uri: string;
  };
  readonly users: readonly User[];
}
