/** A browser that somebody logged in with. */
export interface Session {
  readonly userId: number;
  /** When the password was given, milliseconds since the epoch. */
  readonly authTime: number;
}

/** Who sent a request, as far as its cookie tells. */
export interface Visitor {
  /** Null when the browser sent none. */
  readonly cookie: string | null;
  /** Null when nobody is logged in. */
  readonly session: Session | null;
}
