/** The owner of the calendar, from `/v2/me`. */
export interface Person {
  name: string;
  /** Null unless it is verified. */
  email: string | null;
  /** IANA name. */
  timeZone: string;
  timeFormat: 12 | 24;
}

/** The tokens of one connected calendar. They stay in this process. */
export interface Connection {
  accessToken: string;
  refreshToken: string;
  /** When the access token expires. */
  expiresAt: Date;
  /** Absent until the first refresh. */
  refreshedAt?: Date;
}

/** An authorization request under way: its state, and the PKCE verifier of its code. */
export interface Attempt {
  state: string;
  codeVerifier: string;
}

/** The session of one browser. */
export interface Session {
  id: string;
  attempts: Attempt[];
  connection?: Connection;
  /** The refresh under way, shared by concurrent requests: a refresh token is used once. */
  refreshing?: Promise<Connection>;
}
