/** Who the calendar belongs to, as `/v2/me` answers. */
export interface Person {
  name: string;
  email: string;
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

/** A connection that was begun: the answer must bring this state, and the code needs this verifier. */
export interface Attempt {
  state: string;
  codeVerifier: string;
}

/** What this application remembers of one browser. */
export interface Session {
  id: string;
  attempts: Attempt[];
  connection?: Connection;
  /** The refresh that is under way, shared by requests that arrive meanwhile: a refresh token is used once. */
  refreshing?: Promise<Connection>;
}
