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
  /** Thumbprint of the DPoP key the redemption must prove (`dpop_jkt`, RFC 9449 10); null when the client named none. */
  readonly jkt: string | null;
}

/** A grant in use: the generation that is valid now and when it began (milliseconds since the epoch). */
export interface ActiveGrant extends Authorization {
  readonly generation: number;
  readonly rotatedAt: number;
  /** Thumbprint of the DPoP key its tokens are bound to; null for bearer tokens. */
  readonly jkt: string | null;
  /** The scope of the access token in question where it is narrower than the grant's (RFC 6749 6). */
  readonly narrowedTo: string | null;
}

/** An answer of the token endpoint before it takes its wire names. */
export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** DPoP tokens are bound to a key (RFC 9449 5). */
  readonly type: 'Bearer' | 'DPoP';
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
  /** Thumbprint of the key the request proved (RFC 9449); null when it proved none. */
  readonly jkt: string | null;
}

/** What a refresh presents besides the token. */
export interface Renewal {
  readonly clientId: string;
  /** Thumbprint of the key the request proved (RFC 9449); null when it proved none. */
  readonly jkt: string | null;
  /** A narrower scope for the new access token (RFC 6749 6); null for the grant's. */
  readonly scope: string | null;
}

/** Why the key of a request's DPoP proof does not fit its refresh token (RFC 9449 5). */
export type KeyRefusal =
  /** The token is bound to a key, and the request proved another key or none. */
  | 'key_mismatch'
  /** The request proved a key, but the token is not bound: a code exchange can bind a grant, a refresh cannot. */
  | 'key_unexpected';

/** Why a grant was refused; the token app maps each to one OAuth error. */
export type RefusalReason =
  /** Not a token, or not one this service wrote. */
  | 'not_ours'
  /** A genuine token of another kind than is due here. */
  | 'wrong_kind'
  | 'expired'
  /** Authentic, but neither Redis nor PostgreSQL knows its grant. */
  | 'unknown'
  /** A code from before a fail-over: whether it was used before is not known any more. */
  | 'history_lost'
  | 'revoked'
  | 'other_client'
  | KeyRefusal
  /** A refresh asked for more than the user granted (RFC 6749 6). */
  | 'scope_exceeds'
  /** A retry asked for a narrower scope other than the one already issued for the same refresh token. */
  | 'scope_differs'
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
