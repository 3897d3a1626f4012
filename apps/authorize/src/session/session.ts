/** A browser that somebody logged in with. */
export interface Session {
  readonly userId: number;
  /** `User.sessionGeneration` at the login. */
  readonly generation: number;
  /** When the password was given, milliseconds since the epoch. */
  readonly authTime: number;
  /** Digest of the query that the login went on with, until that request has been answered. */
  readonly loginFor: string | null;
}

/** Who sent a request, as far as its cookie tells. */
export interface Visitor {
  /** Null when the browser sent none. */
  readonly cookie: string | null;
  /** Null when nobody is logged in. */
  readonly session: Session | null;
}
