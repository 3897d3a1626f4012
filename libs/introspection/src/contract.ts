/**
 * What the token app and those who ask it say to each other over NATS. Payloads are JSON. Requests are Nest packets
 * (`{pattern, data, id}`, answered `{response}` or `{err}`), because a Nest microservice answers them.
 */
export const SUBJECTS = {
  /** Request {@link IntrospectionRequest}, reply {@link IntrospectionReply}. */
  introspect: 'oauth.token.introspect',
  /** Request {@link ProfileRequest}, reply {@link ProfileReply}. */
  profile: 'oauth.user.profile',
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
}

export interface ProfileRequest {
  readonly user_id: number;
}

export interface ProfileReply {
  /** Null when there is no such user any more. */
  readonly user: Readonly<Record<string, unknown>> | null;
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
