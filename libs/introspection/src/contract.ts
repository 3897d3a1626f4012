/**
 * The NATS contract between the token app and its callers. Payloads are JSON. Requests are Nest packets
 * (`{pattern, data, id}`, answered `{response}` or `{err}`), because a Nest microservice answers them.
 *
 * Compatibility: during a rollout, either side may be one version ahead. A new version only adds optional fields, and each
 * side ignores unknown fields. Callers use a new subject only from the version after the one that serves it.
 */
export const SUBJECTS = {
  /** Request {@link IntrospectionRequest}, reply {@link IntrospectionReply}. */
  introspect: 'oauth.token.introspect',
  /** Request {@link ConsumeProofRequest}, reply {@link ConsumeProofReply}. */
  consumeProof: 'oauth.dpop.consume',
  /** Request {@link ProfileRequest}, reply {@link ProfileReply}. */
  profile: 'oauth.user.profile',
  /** Request {@link ApplyRevocationsRequest}, reply {@link ApplyRevocationsReply}. */
  applyRevocations: 'oauth.grant.apply_revocations',
  /** Broadcast {@link GrantRevoked}. */
  grantRevoked: 'oauth.grant.revoked',
  /** Broadcast {@link ClientChanged}. */
  clientChanged: 'oauth.client.changed',
  /** Broadcast {@link UserChanged}. */
  userChanged: 'oauth.user.changed',
} as const;

/** Header that carries the request id of whoever asks, so that both logs can be read together. */
export const REFERENCE_HEADER = 'reference';

export interface IntrospectionRequest {
  readonly token: string;
  /** Thumbprint of the key that whoever presents the token has proved (RFC 9449); without it a bound token is inactive. */
  readonly jkt?: string;
  /** The proof to consume when the token turns out to be bound to that key: both are asked in one round trip. */
  readonly proof?: ConsumeProofRequest;
}

/** After RFC 7662 2.2: an inactive token is not told from one that never was. */
export type IntrospectionReply = { readonly active: false } | ActiveIntrospection;

export interface ActiveIntrospection {
  readonly active: true;
  readonly grant_id: string;
  readonly client_id: string;
  /** The user's id, decimal. */
  readonly sub: string;
  /** Space-separated. */
  readonly scope: string;
  /** Seconds since the epoch. */
  readonly exp: number;
  /** The key that the token is bound to (RFC 9449 6.2). Always present for a bound token, absent for a bearer token. */
  readonly cnf?: { readonly jkt: string };
  /** Result for the request's proof. */
  readonly proof?: ConsumeProofReply;
}

/** A DPoP proof that is about to be used, once and never again (RFC 9449 11.1). */
export interface ConsumeProofRequest {
  readonly jkt: string;
  readonly jti: string;
  readonly nonce?: string;
  /** When its verifier will not take it any more (milliseconds since the epoch): until then it is remembered. */
  readonly expires_at: number;
}

export interface ConsumeProofReply {
  /** `consumed`: go on. `replayed`: refuse. `use_nonce`: refuse, and ask for a proof with the nonce. */
  readonly outcome: 'consumed' | 'replayed' | 'use_nonce';
  /** The nonce for the client's next proof; absent where none is required (RFC 9449 11.3). */
  readonly nonce?: string;
}

export interface ProfileRequest {
  readonly user_id: number;
}

export interface ProfileReply {
  /** Null when there is no such user any more. */
  readonly user: Readonly<Record<string, unknown>> | null;
}

/** Asks the token app to apply every revocation that PostgreSQL records for a client or a user. */
export type ApplyRevocationsRequest = { readonly client_id: string } | { readonly user_id: number };

export interface ApplyRevocationsReply {
  /** Number of grants. */
  readonly applied: number;
}

export interface GrantRevoked {
  readonly grant_id: string;
}

export interface ClientChanged {
  readonly client_id: string;
}

export interface UserChanged {
  readonly user_id: number;
}

export interface Broadcasts {
  readonly [SUBJECTS.grantRevoked]: GrantRevoked;
  readonly [SUBJECTS.clientChanged]: ClientChanged;
  readonly [SUBJECTS.userChanged]: UserChanged;
}
