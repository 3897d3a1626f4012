import { type Fields, isObject, MalformedMessageError } from '#platform/nats/nats-message.js';
import type { Invalidations } from '#platform/nats/nats.connection.js';

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
  /** Request of the product: a user as docs/users.md describes; reply {@link UserUpsertReply}. */
  userUpsert: 'oauth.user.upsert',
  /** Request of the product: the identity and `updated_at`; reply {@link UserDisableReply}. */
  userDisable: 'oauth.user.disable',
  /** Request of the product: the identity and `updated_at`; reply {@link UserDeleteReply}. */
  userDelete: 'oauth.user.delete',
  /** Broadcast {@link GrantRevoked}. */
  grantRevoked: 'oauth.grant.revoked',
  /** Broadcast {@link ClientChanged}. */
  clientChanged: 'oauth.client.changed',
  /** Broadcast {@link UserChanged}. */
  userChanged: 'oauth.user.changed',
} as const;

export interface IntrospectionRequest {
  readonly token: string;
  /** Thumbprint of the key that the request has proved (RFC 9449); without it a bound token is inactive. */
  readonly jkt?: string;
  /** The proof, which is consumed if the token is bound to that key: one round trip for both. */
  readonly proof?: ConsumeProofRequest;
}

/** As in RFC 7662 2.2: the reply does not tell an expired or revoked token from one that never existed. */
export type IntrospectionReply = { readonly active: false } | ActiveIntrospection;

interface ActiveIntrospection {
  readonly active: true;
  readonly grant_id: string;
  readonly client_id: string;
  /** The user's id, decimal. */
  readonly sub: string;
  /** Space-separated. */
  readonly scope: string;
  /** Seconds since the epoch. */
  readonly exp: number;
  /** The APIs that the token is for (RFC 8707): any other one refuses it. Absent for a token that is for every API. */
  readonly aud?: readonly string[];
  /** The product's own id of the user; absent for a user without one. */
  readonly external_id?: string;
  /** The key that the token is bound to (RFC 9449 6.2). Always present for a bound token, absent for a bearer token. */
  readonly cnf?: { readonly jkt: string };
  /** Result for the request's proof. */
  readonly proof?: ConsumeProofReply;
}

/** Consumes a DPoP proof, which is good for one request (RFC 9449 11.1). */
export interface ConsumeProofRequest {
  readonly jkt: string;
  readonly jti: string;
  readonly nonce?: string;
  /** When verifiers stop accepting the proof, in milliseconds since the epoch. It is remembered until then. */
  readonly expires_at: number;
}

export interface ConsumeProofReply {
  /** `consumed`: accept the request. `replayed`: refuse it. `use_nonce`: refuse it and ask for a proof with the nonce. */
  readonly outcome: 'consumed' | 'replayed' | 'use_nonce';
  /** The nonce for the client's next proof; absent when none is required (RFC 9449 11.3). */
  readonly nonce?: string;
}

export interface ProfileRequest {
  readonly user_id: number;
}

export interface ProfileReply {
  /** Null when the user does not exist any more. */
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

export interface UserUpsertReply {
  /**
   * `stale`: a newer change or deletion was applied before. `invalid`: the message is wrong. `conflict`: another user has the email or
   * username as a login name.
   */
  readonly status: 'created' | 'updated' | 'unchanged' | 'stale' | 'invalid' | 'conflict';
  readonly user_id?: number;
  /** True if the product or the operator has disabled the user. */
  readonly disabled?: boolean;
  readonly problems?: readonly string[];
}

export interface UserDisableReply {
  /** `unchanged`: the product had disabled the user before. `stale`: a newer change was applied before. `unknown`: there is no such user. */
  readonly status: 'disabled' | 'unchanged' | 'stale' | 'unknown' | 'invalid';
  readonly user_id?: number;
  readonly revoked_grants?: number;
  readonly problems?: readonly string[];
}

export interface UserDeleteReply {
  /** `unchanged`: deleted before. `stale`: a newer change was applied before. `unknown`: there was no such user. */
  readonly status: 'deleted' | 'unchanged' | 'stale' | 'unknown' | 'invalid';
  readonly user_id?: number;
  readonly revoked_grants?: number;
  readonly problems?: readonly string[];
}

/** Tags of cached values, which broadcasts make stale. */
export const tagOf = {
  grant: (id: string) => `grant:${id}`,
  client: (id: string) => `client:${id}`,
  user: (id: number | string) => `user:${id}`,
};

const MAX_TOKEN = 1024;
/** The same limit as for the claims of a DPoP proof. */
const MAX_CLAIM = 256;

type Check = (fields: Fields) => boolean;
/** The fields of a payload, of unknown types. */
type Unchecked<Payload> = Readonly<Partial<Record<Payload extends unknown ? keyof Payload : never, unknown>>>;

const isText = (value: unknown, max: number): value is string =>
  typeof value === 'string' && value.length <= max;
const isThumbprint = (value: unknown): boolean => isText(value, 43) && /^[\w-]{43}$/.test(value);
/** Id of a grant or a client. */
const isId = (value: unknown): boolean => isText(value, 255) && /^[!-~]+$/.test(value);
/** A PostgreSQL `integer`. */
const isUserId = (value: unknown): boolean => typeof value === 'number' && (value | 0) === value;

const isProof: Check = ({ jkt, jti, nonce, expires_at: expiresAt }) =>
  isThumbprint(jkt) &&
  isText(jti, MAX_CLAIM) &&
  jti !== '' &&
  (nonce === undefined || isText(nonce, MAX_CLAIM)) &&
  Number.isFinite(expiresAt);

const REQUESTS: Readonly<Record<string, Check>> = {
  [SUBJECTS.introspect]: ({ token, jkt, proof }) =>
    isText(token, MAX_TOKEN) &&
    (jkt === undefined || isThumbprint(jkt)) &&
    (proof === undefined || (isObject(proof) && isProof(proof))),
  [SUBJECTS.consumeProof]: isProof,
  [SUBJECTS.profile]: ({ user_id: id }) => isUserId(id),
  // Their replies name every problem.
  [SUBJECTS.userUpsert]: () => true,
  [SUBJECTS.userDisable]: () => true,
  [SUBJECTS.userDelete]: () => true,
  [SUBJECTS.applyRevocations]: ({ client_id: clientId, user_id: userId }) =>
    userId === undefined ? isId(clientId) : isUserId(userId) && clientId === undefined,
};

/** Whether a request's data match the interface of its subject. Unknown fields are ignored. */
export function isRequest(subject: string, data: unknown): boolean {
  return isObject(data) && REQUESTS[subject]?.(data) === true;
}

/** Readers of replies, by the name of the subject. @throws MalformedMessageError */
export const parseReply = {
  introspect: parser<IntrospectionReply>(
    ({ active, grant_id: grantId, client_id: clientId, sub, scope, exp, aud, external_id: externalId }) =>
      active === false ||
      (active === true &&
        isId(grantId) &&
        isId(clientId) &&
        isText(sub, 11) &&
        /^-?\d+$/.test(sub) &&
        isUserId(Number(sub)) &&
        typeof scope === 'string' &&
        Number.isFinite(exp) &&
        (aud === undefined || (Array.isArray(aud) && aud.every((one) => typeof one === 'string'))) &&
        (externalId === undefined || typeof externalId === 'string')),
  ),
  consumeProof: parser<ConsumeProofReply>(
    ({ outcome }) => outcome === 'consumed' || outcome === 'replayed' || outcome === 'use_nonce',
  ),
  profile: parser<ProfileReply>(({ user }) => typeof user === 'object'),
};

const parseGrantRevoked = parser<GrantRevoked>(({ grant_id: id }) => isId(id));
const parseClientChanged = parser<ClientChanged>(({ client_id: id }) => isId(id));
const parseUserChanged = parser<UserChanged>(({ user_id: id }) => isUserId(id));

/** What each broadcast makes stale in the caches of a process. */
export const INVALIDATIONS: Invalidations = {
  [SUBJECTS.grantRevoked]: (event) => tagOf.grant(parseGrantRevoked(event).grant_id),
  [SUBJECTS.clientChanged]: (event) => tagOf.client(parseClientChanged(event).client_id),
  [SUBJECTS.userChanged]: (event) => tagOf.user(parseUserChanged(event).user_id),
};

function parser<Payload>(isValid: (fields: Unchecked<Payload>) => boolean): (payload: unknown) => Payload {
  return (payload) => {
    if (isObject(payload) && isValid(payload as Unchecked<Payload>)) return payload as Payload;
    throw new MalformedMessageError('it does not match the contract');
  };
}
