/** What an engine process is asked to do. `now` is what its clock shows, in milliseconds since the epoch. */
export type EngineCommand =
  | { readonly do: 'allow'; readonly now: number; readonly clientId: string; readonly userId: number }
  | { readonly do: 'redeem'; readonly now: number; readonly code: string; readonly clientId: string }
  | { readonly do: 'refresh'; readonly now: number; readonly token: string; readonly clientId: string }
  | { readonly do: 'introspect'; readonly now: number; readonly token: string }
  | { readonly do: 'revoke'; readonly now: number; readonly id: string }
  /** What every token app does when it connects to Redis: applies a recent revocation again. */
  | { readonly do: 'replay-revocation'; readonly now: number; readonly id: string };

/** A command under the retry window, in seconds, that its grants have. */
export interface EngineRequest {
  readonly id: number;
  readonly command: EngineCommand;
  readonly retryWindow: number;
}

/** What came of a command. */
export interface EngineAnswer {
  /** A refusal's reason, `granted`, `active`, `done`, or `unavailable` for a store that did not answer. */
  readonly outcome: string;
  readonly generation?: number;
  readonly rotatedAt?: number;
  readonly accessToken?: string;
  readonly refreshToken?: string;
  /** Of `allow`. */
  readonly code?: string;
  readonly id?: string;
}

/** What an engine process is started with. */
export interface EngineSettings {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly tokenKeys: string;
}
