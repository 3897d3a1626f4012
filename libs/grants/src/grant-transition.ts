/** What happened to a grant, to be counted: its steps, and the refusals that end it. */
export type GrantTransition =
  | 'created'
  | 'redeemed'
  | 'refreshed'
  /** The same refresh token again inside the retry window: the same pair again. */
  | 'retried'
  /** Redis had lost it. */
  | 'restored'
  | 'revoked'
  | 'code_replayed'
  | 'refresh_token_reused'
  | 'verifier_mismatch';

/** Told of each transition after it happened; must not throw. */
export type ObserveTransition = (transition: GrantTransition) => void;
