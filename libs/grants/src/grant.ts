import type { Token } from './token-codec.js';

/** What a user allowed: which client, for which user, which scope, at which APIs. */
interface Authorization {
  readonly clientId: string;
  readonly userId: number;
  /** The product's own id of the user; null if it has none. */
  readonly externalId: string | null;
  /** Space-separated scope tokens (RFC 6749 3.3). */
  readonly scope: string;
  /** The APIs that tokens are for (RFC 8707), as `checkResource` returns them; null for every API. */
  readonly resources: string | null;
}

/** A grant whose code has not been redeemed yet, with what the redemption is checked against. */
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
}

/** What the token endpoint answers (RFC 6749 5.1), before the controller gives the fields their wire names. */
export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** DPoP tokens are bound to a key (RFC 9449 5). */
  readonly type: 'Bearer' | 'DPoP';
  /** Seconds. */
  readonly expiresIn: number;
  readonly scope: string;
}

/** What a request wants less of than its grant has. */
export interface Narrowing {
  /** A narrower scope for the access token (RFC 6749 6); null for the grant's. */
  readonly scope: string | null;
  /** The APIs that the access token is for (RFC 8707 2.2), as `checkResource` returns them; null for the grant's. */
  readonly resources: string | null;
}

/** What a redemption presents besides the code. */
export interface Redemption extends Pick<Narrowing, 'resources'> {
  readonly clientId: string;
  readonly redirectUri: string;
  /** S256 of the code verifier; null when none was sent. */
  readonly challenge: string | null;
  /** Thumbprint of the key the request proved (RFC 9449); null when it proved none. */
  readonly jkt: string | null;
}

/** What a refresh presents besides the token. */
export interface Renewal extends Narrowing {
  readonly clientId: string;
  /** Thumbprint of the key the request proved (RFC 9449); null when it proved none. */
  readonly jkt: string | null;
}

/** Why the key of a request's DPoP proof does not fit its refresh token (RFC 9449 5). */
export type KeyRefusal =
  /** The token is bound to a key, and the request proved another key or none. */
  | 'key_mismatch'
  /** The request proved a key, but the token is not bound: a code exchange can bind a grant, a refresh cannot. */
  | 'key_unexpected';

/** Why a code or token was refused. The token app maps each to one OAuth error and logs it as the failed check. */
export type RefusalReason =
  /** Malformed or forged, or signed with a key that is not in the key ring. */
  | 'not_ours'
  /** An authentic token of another kind than this request takes. */
  | 'wrong_kind'
  | 'expired'
  /** Authentic, but neither Redis nor PostgreSQL knows its grant. */
  | 'unknown'
  /** Redis failed over or restarted after the code was issued, and may have lost its redemption (docs/adr/0009). */
  | 'issued_before_failover'
  | 'revoked'
  | 'other_client'
  | KeyRefusal
  /** A refresh asked for more than the user granted (RFC 6749 6). */
  | 'scope_exceeds'
  /** A request names an API that the authorization request did not name (RFC 8707 2.2). */
  | 'resource_exceeds'
  | 'redirect_uri_mismatch'
  | 'verifier_missing'
  | 'verifier_unexpected'
  /** The grant is revoked, because the code may be stolen (RFC 7636 4.6). */
  | 'verifier_mismatch'
  /** The grant is revoked (RFC 6749 4.1.2). */
  | 'code_replayed'
  /** The grant is revoked (RFC 9700 4.14.2). */
  | 'refresh_token_reused';

/** A refusal, with the values that explain it to the operator; never a credential. */
export interface Refusal {
  readonly outcome: RefusalReason;
  readonly grantId?: string;
  /** What the request sent: a redirect URI, scopes, APIs, a client, a kind of token, the generation of a refresh token. */
  readonly sent?: string;
  /** What the grant has, or the endpoint takes, instead. */
  readonly expected?: string;
  /** When the code or token expired (ISO 8601). */
  readonly expiredAt?: string;
}

/** A new pair of tokens and its grant. */
export interface Granted {
  readonly outcome: 'granted';
  readonly grantId: string;
  readonly grant: ActiveGrant;
  readonly pair: TokenPair;
  readonly transition: 'redeemed' | 'refreshed' | 'retried';
}

/** An access or refresh token that is valid now. */
export interface ActiveToken {
  readonly outcome: 'active';
  readonly grantId: string;
  readonly grant: ActiveGrant;
  readonly token: Token;
  /** The token's own scope: the grant's, or less if the client asked for less (RFC 6749 6). */
  readonly scope: string;
  /** The APIs that the token is for (RFC 8707), space-separated; null if it is for every API. */
  readonly audience: string | null;
}

/** State changes of a grant, and refusals that revoke it, as metrics count them. */
export type GrantTransition =
  | 'created'
  | 'redeemed'
  | 'refreshed'
  /** The same refresh token again inside the retry window, answered with the same pair. */
  | 'retried'
  /** Redis had lost the grant; PostgreSQL had it. */
  | 'restored'
  | 'revoked'
  | 'code_replayed'
  | 'refresh_token_reused'
  | 'verifier_mismatch';

/** Called after each transition, to count it; must not throw. */
export type CountTransition = (transition: GrantTransition) => void;
