/** Command for an engine process. `now` is the time of the process's clock, in milliseconds since the epoch. */
export type EngineCommand =
  | { readonly do: 'allow'; readonly now: number; readonly clientId: string; readonly userId: number }
  | { readonly do: 'redeem'; readonly now: number; readonly code: string; readonly clientId: string }
  | { readonly do: 'refresh'; readonly now: number; readonly token: string; readonly clientId: string }
  | { readonly do: 'introspect'; readonly now: number; readonly token: string }
  | { readonly do: 'revoke'; readonly now: number; readonly id: string }
  /** Applies a recent revocation again, as token apps do when they connect to Redis. */
  | { readonly do: 'replay-revocation'; readonly now: number; readonly id: string };

export interface EngineRequest {
  readonly id: number;
  readonly command: EngineCommand;
  /** In seconds. */
  readonly retryWindow: number;
}

export interface EngineAnswer {
  /** Reason of a refusal, `granted`, `active`, `done`, `unavailable` if a store failed, or `threw …` otherwise. */
  readonly outcome: string;
  readonly generation?: number;
  readonly rotatedAt?: number;
  readonly accessToken?: string;
  readonly refreshToken?: string;
  readonly code?: string;
  readonly id?: string;
}

export interface EngineSettings {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly tokenKeys: string;
}
