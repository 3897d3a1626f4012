import type { ClaimName } from '#oauth/openid/claims.js';
import type { Token } from './token-codec.js';

/**
 * Maximum number of a user's live grants to one client; another grant revokes the oldest
 * (docs/adr/0029-limit-of-grants.md).
 */
export const MAX_LIVE_GRANTS = 200;

/** Login of the user who granted the scope `openid`. */
export interface Login {
  /** `auth_time` of the ID token, in seconds since the epoch; null if the login provider did not report it. */
  readonly authTime: number | null;
  /** Session of the authorize app, from which each client's `sid` is derived. */
  readonly session: string;
}

/** Request parameters that affect only the ID token of the code exchange. */
export interface IdTokenRequest {
  /** The ID token repeats the nonce unmodified (OpenID Connect Core 3.1.2.1). */
  readonly nonce?: string;
  /** Individually requested claims (OpenID Connect Core 5.5). */
  readonly claims?: readonly ClaimName[];
}

export interface Authorization {
  readonly clientId: string;
  readonly userId: number;
  /** Id of the user in the product; null if the user has none. */
  readonly externalId: string | null;
  readonly scope: string;
  /** APIs that the tokens are valid for (RFC 8707), in the format of `checkResource`; null for every API. */
  readonly resources: string | null;
  /** Null or absent without the scope `openid`. */
  readonly login?: Login | null;
  /** Time at which the grant ends, whatever its use, in milliseconds since the epoch; null or absent without an end. */
  readonly endsAt?: number | null;
}

/** A grant whose authorization code has not been redeemed, with the values that the redemption must match. */
export interface PendingGrant extends Authorization {
  readonly redirectUri: string;
  /** S256 challenge (RFC 7636 4.2); null without PKCE. */
  readonly challenge: string | null;
  /** Thumbprint of the key that the redemption must prove (RFC 9449 10); null without `dpop_jkt`. */
  readonly jkt: string | null;
  readonly idToken?: IdTokenRequest;
}

export interface ActiveGrant extends Authorization {
  readonly generation: number;
  /** Start of the current generation, in milliseconds since the epoch. */
  readonly rotatedAt: number;
  /** Thumbprint of the DPoP key that the current refresh token is bound to; null for bearer tokens. */
  readonly jkt: string | null;
}

/** Grant of any token; without a user for `client_credentials` (RFC 6749 4.4). */
export type IntrospectedGrant = Omit<ActiveGrant, 'userId'> & { readonly userId: number | null };

/** Grant of access to the operators' HTTP API, without a user (RFC 6749 4.4). */
export interface ClientGrant {
  readonly clientId: string;
  /** Version of the client's registration, which is the generation of the grant: a change ends the client's tokens. */
  readonly version: number;
  readonly scope: string;
  /** The only API for which the token is valid. */
  readonly resource: string;
  readonly jkt: string | null;
}

/** `issuedAt` is the time at which the code was issued, in milliseconds, perhaps to an earlier request of the form. */
export type CreatedGrant = {
  readonly outcome: 'pending' | 'redeemed' | 'revoked';
  readonly issuedAt: number;
};

/** RFC 6749 4.4.3: "A refresh token SHOULD NOT be included." */
export type ClientToken = Omit<TokenPair, 'refreshToken'> & { readonly grantId: string };

/** Response of the token endpoint (RFC 6749 5.1). */
export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly type: 'Bearer' | 'DPoP';
  /** In seconds. */
  readonly expiresIn: number;
  readonly scope: string;
}

export interface RequestedAccess {
  /** RFC 6749 6; null for the scope of the grant. */
  readonly scope: string | null;
  /** RFC 8707 2.2, in the format of `checkResource`; null for the resources of the grant. */
  readonly resources: string | null;
  /** Thumbprint of the proved DPoP key, which the access token is bound to; null without a proof. */
  readonly jkt: string | null;
}

export interface CodeExchange extends Omit<RequestedAccess, 'scope'> {
  readonly clientId: string;
  /** Maximum age of the code in seconds, if less than the lifetime of codes. */
  readonly maxAge?: number;
  readonly redirectUri: string;
  /** S256 challenge of the code verifier; null without a verifier. */
  readonly challenge: string | null;
}

/** A poll of a device (RFC 8628 3.4). */
export interface DevicePoll extends Omit<RequestedAccess, 'scope'> {
  readonly clientId: string;
}

export interface RefreshRequest extends RequestedAccess {
  readonly clientId: string;
  /** The client authenticated with its keys, which already constrain its refresh tokens (RFC 9449 5). */
  readonly clientHasKeys?: boolean;
  /** True to keep a refresh token that is bound to a key (section 5.3.2.1 of FAPI 2.0). Every other token rotates. */
  readonly keepsRefreshToken?: boolean;
}

/** Refusal because of the DPoP key (RFC 9449 5). */
export type KeyRefusal =
  /** The request did not prove the key of the code or token. A client with keys may refresh with another key. */
  | 'key_mismatch'
  /**
   * The token is not bound, but the request proved a key. A client without keys cannot bind a grant after its first
   * tokens.
   */
  | 'key_unexpected';

/** The token app maps each reason to an OAuth error and logs it as the failed check. */
export type RefusalReason =
  /** Malformed, forged, or signed with a key outside the key ring. */
  | 'unrecognized'
  /** Authentic, but not of the kind that the request requires. */
  | 'wrong_kind'
  | 'expired'
  /** Authentic, but its grant is not in Redis or PostgreSQL. */
  | 'unknown'
  /**
   * Redis failed over or restarted after the code was issued or the device approved, and may have lost the redemption
   * (docs/adr/0009-fail-over.md).
   */
  | 'issued_before_failover'
  | 'revoked'
  | 'other_client'
  | KeyRefusal
  /** The user granted no requested scope. */
  | 'scope_not_granted'
  /** The authorization request did not name the API (RFC 8707 2.2). */
  | 'resource_exceeded'
  | 'redirect_uri_mismatch'
  | 'verifier_missing'
  | 'verifier_unexpected'
  /** The user has not decided yet (RFC 8628 3.5). */
  | 'decision_pending'
  /** The device polled before its interval had passed (RFC 8628 3.5). */
  | 'polled_too_early'
  /** The user denied the request, or the grant was revoked before the device got tokens (RFC 8628 3.5). */
  | 'decision_denied'
  /** Revokes the grant, because the code may be stolen (RFC 7636 4.6). */
  | 'verifier_mismatch'
  /** Revokes the grant (RFC 6749 4.1.2). */
  | 'code_replayed'
  /** Revokes the grant (RFC 9700 4.14.2). */
  | 'refresh_token_reused';

/** A refusal with values for the operator, which never contain a credential. */
export interface Refusal {
  readonly outcome: RefusalReason;
  readonly grantId?: string;
  /** Value in the request, such as a redirect URI or a generation. */
  readonly sent?: string;
  /** Value of the grant, or value that the endpoint accepts. */
  readonly expected?: string;
  /** ISO 8601. */
  readonly expiredAt?: string;
  /** Id of the token request that has used the code or token. */
  readonly usedBy?: string;
}

export interface Granted {
  readonly outcome: 'granted';
  readonly grantId: string;
  readonly grant: ActiveGrant;
  readonly pair: TokenPair;
  readonly idToken?: IdTokenRequest;
  /** Id of the token request; null if the retry window alone makes the request repeatable. */
  readonly request: string | null;
  readonly transition: 'redeemed' | 'refreshed' | 'retried';
}

export interface IntrospectedToken {
  readonly outcome: 'active';
  readonly grantId: string;
  readonly grant: IntrospectedGrant;
  readonly token: Token;
  /** Scope of the token, perhaps narrower than the scope of the grant (RFC 6749 6). */
  readonly scope: string;
  readonly audience: string | null;
}

/** Labels of a metric: state changes, retries, and refusals that revoke a grant. */
export type GrantTransition =
  | 'created'
  | 'issued'
  | 'redeemed'
  | 'refreshed'
  | 'retried'
  | 'restored'
  | 'revoked'
  | 'code_replayed'
  | 'refresh_token_reused'
  | 'verifier_mismatch';

/** Counts a transition. Must not throw. */
export type CountTransition = (transition: GrantTransition) => void;
