/** What a user allowed: who may act for whom, and how far. */
export interface Authorization {
  readonly clientId: string;
  readonly userId: number;
  /** Space-separated scope tokens (RFC 6749 3.3). */
  readonly scope: string;
}

/** An authorization on its way to the client as a code, with what the redemption must repeat. */
export interface PendingGrant extends Authorization {
  readonly redirectUri: string;
  /** PKCE S256 challenge (RFC 7636 4.2); null when the client sent none. */
  readonly challenge: string | null;
}

/** A grant in use: the generation that is valid now and when it began (milliseconds since the epoch). */
export interface ActiveGrant extends Authorization {
  readonly generation: number;
  readonly rotatedAt: number;
}

/** An answer of the token endpoint before it takes its wire names. */
export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Seconds. */
  readonly expiresIn: number;
  readonly scope: string;
}

/** What a redemption presents besides the code. */
export interface Redemption {
  readonly clientId: string;
  readonly redirectUri: string;
  /** S256 of the code verifier; null when none was sent. */
  readonly challenge: string | null;
}

/** Why a grant was refused; the token app maps each to one OAuth error. */
export type RefusalReason =
  /** Not a token, or not one this service wrote. */
  | 'not_ours'
  /** A genuine token of another kind than is due here. */
  | 'wrong_kind'
  | 'expired'
  /** Authentic, but neither Redis nor PostgreSQL knows its grant. */
  | 'unknown'
  | 'revoked'
  | 'other_client'
  | 'redirect_uri_mismatch'
  | 'verifier_missing'
  | 'verifier_unexpected'
  /** The code is burnt (RFC 7636 4.6). */
  | 'verifier_mismatch'
  /** The grant is revoked (RFC 6749 4.1.2). */
  | 'code_replayed'
  /** The grant is revoked (RFC 9700 4.14.2). */
  | 'refresh_token_reused';

/** A refusal, with the value that explains it to the operator; never a credential. */
export interface Refusal {
  readonly outcome: RefusalReason;
  readonly grantId?: string;
  readonly detail?: string;
}

/** A pair to hand out, and the grant it belongs to. */
export interface Granted {
  readonly outcome: 'granted';
  readonly grantId: string;
  readonly grant: ActiveGrant;
  readonly pair: TokenPair;
}
