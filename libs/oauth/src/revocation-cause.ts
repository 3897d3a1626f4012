/** Cause of a revocation, which the client learns by an event. A constraint of the table `grants` repeats the names. */
export type RevocationCause =
  | 'user'
  | 'operator'
  | 'application'
  /** The user was disabled or deleted. */
  | 'account'
  /** The user declined a scope of the grant in a newer consent. */
  | 'declined'
  /** The user has more grants to the client than the limit. */
  | 'limit'
  | 'code_replayed'
  | 'refresh_token_reused'
  | 'verifier_mismatch';
