import type { ClientJwk } from '#oauth/client-assertion/client-keys.js';
import type { UserClaims } from '#oauth/openid/claims.js';
import { type Fields, isObject, MalformedMessageError } from './nats-message.js';
import type { Invalidations } from './nats.connection.js';

/**
 * NATS contract of the token app. Payloads are JSON, as declared below. Requests are Nest packets
 * (`{pattern, data, id}`, answered `{response}` or `{err}`). During a rollout, either side may be one version ahead.
 * Therefore new versions only add optional fields, both sides ignore unknown fields, and callers start to use a new
 * subject one version after the token app starts to serve the subject.
 */
export const SUBJECTS = {
  introspect: 'oauth.token.introspect',
  consumeProof: 'oauth.dpop.consume',
  profile: 'oauth.user.profile',
  claims: 'oauth.user.claims',
  applyRevocations: 'oauth.grant.apply_revocations',
  /** Sent by operators. Only the token app has the key. */
  sealHeader: 'oauth.event.seal_header',
  /** Sent by the portal of owners. */
  clientKeys: 'oauth.client.keys',
  /** Sent by the product (docs/users.md). The reply is a {@link UserUpsertReply}. */
  userUpsert: 'oauth.user.upsert',
  /** Sent by the product with the identity and `updated_at`. The reply is a {@link UserDisableReply}. */
  userDisable: 'oauth.user.disable',
  /** Sent by the product with the identity and `updated_at`. The reply is a {@link UserDeleteReply}. */
  userDelete: 'oauth.user.delete',
  grantRevoked: 'oauth.grant.revoked',
  clientChanged: 'oauth.client.changed',
  userChanged: 'oauth.user.changed',
  /** Only between token apps. */
  requestGivenUp: 'oauth.request.given_up',
} as const;

/** Requests of the token app to the product, as Nest packets (docs/developers.md). */
export const PRODUCT_SUBJECTS = {
  /** Sends a mail, if the service has no mail server. The request is a {@link MailRequest}. */
  sendMail: 'oauth.mail.send',
} as const;

/** A mail as plain text. A repeated request has the same id. */
export interface MailRequest {
  readonly id: string;
  readonly kind: string;
  readonly to: string;
  /** Language of the text. */
  readonly language: string;
  readonly subject: string;
  readonly text: string;
}

/** `accepted`: the product has stored or sent the mail. `refused`: the address cannot get mail; no further request. */
export interface MailReply {
  readonly status: 'accepted' | 'refused';
}

export interface IntrospectionRequest {
  readonly token: string;
  /** Thumbprint of the proved key (RFC 9449). A bound token is inactive without the thumbprint. */
  readonly jkt?: string;
  /** Proof to consume if the token is bound to the key of the proof. Saves a round trip. */
  readonly proof?: ConsumeProofRequest;
}

/** The reply is the same for expired, revoked and unknown tokens (RFC 7662 2.2). */
export type IntrospectionReply = { readonly active: false } | ActiveIntrospection;

interface ActiveIntrospection {
  readonly active: true;
  readonly grant_id: string;
  readonly client_id: string;
  /** User id in decimal, or the client id if the token has no user (RFC 6749 4.4). */
  readonly sub: string;
  /** Space-separated. */
  readonly scope: string;
  /** Seconds since the epoch. */
  readonly exp: number;
  /** APIs that accept the token (RFC 8707). Absent if every API accepts the token. */
  readonly aud?: readonly string[];
  readonly external_id?: string;
  /** Key of a bound token (RFC 9449 6.2); absent for a bearer token. */
  readonly cnf?: { readonly jkt: string };
  readonly proof?: ConsumeProofReply;
}

/** A DPoP proof is valid for one request (RFC 9449 11.1). */
export interface ConsumeProofRequest {
  readonly jkt: string;
  readonly jti: string;
  readonly nonce?: string;
  /** Time at which verifiers stop accepting the proof, in milliseconds since the epoch. */
  readonly expires_at: number;
}

export interface ConsumeProofReply {
  /**
   * `consumed`: accept the request. `replayed`: reject the request. `use_nonce`: reject the request with a new nonce.
   */
  readonly outcome: 'consumed' | 'replayed' | 'use_nonce';
  /** Nonce for the client's next proof; absent if no nonce is required (RFC 9449 11.3). */
  readonly nonce?: string;
}

export interface ProfileRequest {
  readonly user_id: number;
}

export interface ProfileReply {
  /** Null if the user no longer exists. */
  readonly user: Readonly<Record<string, unknown>> | null;
}

export interface ClaimsRequest {
  readonly user_id: number;
  /** Determines the `sub` (OpenID Connect Core 8). */
  readonly client_id: string;
}

export interface ClaimsReply {
  /** All claims about the user, from which the caller selects by scope. Null if the user or client does not exist. */
  readonly claims: (UserClaims & { readonly sub: string }) | null;
}

/** Makes the token app apply all recorded revocations of a client or a user. */
export type ApplyRevocationsRequest = { readonly client_id: string } | { readonly user_id: number };

export interface ApplyRevocationsReply {
  readonly applied: number;
}

/** Header Authorization by which the receiver of a client's events recognizes the service. */
export interface SealHeaderRequest {
  readonly client_id: string;
  readonly endpoint_url: string;
  readonly header: string;
}

export interface SealHeaderReply {
  /** The encrypted header in Base64. */
  readonly sealed: string;
}

/** The token app fetches the keys at the `jwks_uri` of this client, if it has none that are fresh. */
export interface ClientKeysRequest {
  readonly client_id: string;
}

export const KEY_FAILURES = ['unreachable', 'timed_out', 'redirected', 'address_refused', 'invalid'] as const;

/** Contains nothing of the response except public keys. */
export interface ClientKeysReply {
  /** Null for a client without a `jwks_uri`, and for an unknown client. */
  readonly fetched: {
    /** Time of the last attempt, in ISO 8601. */
    readonly at: string;
    /** Failure of the last attempt; null if it succeeded. */
    readonly failure: (typeof KEY_FAILURES)[number] | null;
    /** Number of the keys in use, which may be older than a failed attempt. */
    readonly count: number;
    /** The first of these keys. */
    readonly keys: readonly ClientJwk[];
  } | null;
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

/** A token request whose client got an error although Redis may have executed it. */
export interface RequestGivenUp {
  readonly request_id: string;
}

export interface UserUpsertReply {
  /** `stale`: a newer change or deletion was applied. `conflict`: another user logs in with this email or username. */
  readonly status: 'created' | 'updated' | 'unchanged' | 'stale' | 'invalid' | 'conflict';
  readonly user_id?: number;
  /** True if the user is disabled, by the product or by the operator. */
  readonly disabled?: boolean;
  readonly problems?: readonly string[];
}

export interface UserDisableReply {
  /** `unchanged`: already disabled by the product. `stale`: a newer change was applied. `unknown`: no user found. */
  readonly status: 'disabled' | 'unchanged' | 'stale' | 'unknown' | 'invalid';
  readonly user_id?: number;
  readonly revoked_grants?: number;
  readonly problems?: readonly string[];
  /** The change was made, but needs attention: the console has no admin now. */
  readonly warnings?: readonly string[];
}

export interface UserDeleteReply {
  /** `unchanged`: already deleted. `stale`: a newer change was applied. `unknown`: no user found. */
  readonly status: 'deleted' | 'unchanged' | 'stale' | 'unknown' | 'invalid';
  readonly user_id?: number;
  readonly revoked_grants?: number;
  readonly problems?: readonly string[];
  /** The change was made, but needs attention: the console has no admin now. */
  readonly warnings?: readonly string[];
}

/** Tags of cached values. A broadcast evicts every value that has its tag. */
export const tagOf = {
  grant: (id: string) => `grant:${id}`,
  client: (id: string) => `client:${id}`,
  user: (id: number | string) => `user:${id}`,
  request: (id: string) => `request:${id}`,
};

const MAX_TOKEN = 1024;
const MAX_HEADER = 2000;
/** Limit of DpopVerifier for the claims of a proof. */
const MAX_CLAIM = 256;

type Check = (fields: Fields) => boolean;
type Unchecked<Payload> = Readonly<Partial<Record<Payload extends unknown ? keyof Payload : never, unknown>>>;

const isText = (value: unknown, max: number): value is string =>
  typeof value === 'string' && value.length <= max;
const isThumbprint = (value: unknown): boolean => isText(value, 43) && /^[\w-]{43}$/.test(value);
/** Returns true for a possible id of a grant, client, session or message. */
const isId = (value: unknown): boolean => isText(value, 255) && /^[!-~]+$/.test(value);
/** A PostgreSQL `integer`. */
const isUserId = (value: unknown): boolean => typeof value === 'number' && (value | 0) === value;

/** Returns the user id in a `sub`, or null if the `sub` is not a user id, but for example a client id (`sc_…`). */
export function userIdOf(sub: unknown): number | null {
  return isText(sub, 11) && /^-?\d+$/.test(sub) && isUserId(Number(sub)) ? Number(sub) : null;
}

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
  [SUBJECTS.claims]: ({ user_id: userId, client_id: clientId }) => isUserId(userId) && isId(clientId),
  // The product's three requests are validated later, because their replies list every problem.
  [SUBJECTS.userUpsert]: () => true,
  [SUBJECTS.userDisable]: () => true,
  [SUBJECTS.userDelete]: () => true,
  [SUBJECTS.applyRevocations]: ({ client_id: clientId, user_id: userId }) =>
    userId === undefined ? isId(clientId) : isUserId(userId) && clientId === undefined,
  [SUBJECTS.sealHeader]: ({ client_id: clientId, endpoint_url: url, header }) =>
    isId(clientId) && isText(url, MAX_HEADER) && isText(header, MAX_HEADER),
  [SUBJECTS.clientKeys]: ({ client_id: clientId }) => isId(clientId),
};

export function isRequest(subject: string, data: unknown): boolean {
  return isObject(data) && REQUESTS[subject]?.(data) === true;
}

/** Reply parsers by subject name. @throws MalformedMessageError */
export const parseReply = {
  introspect: parser<IntrospectionReply>(
    ({ active, grant_id: grantId, client_id: clientId, sub, scope, exp, aud, external_id: externalId }) =>
      active === false ||
      (active === true &&
        isId(grantId) &&
        isId(clientId) &&
        (userIdOf(sub) !== null ||
          (isText(sub, 255) && sub.startsWith('sc_') && sub === clientId && aud !== undefined)) &&
        typeof scope === 'string' &&
        Number.isFinite(exp) &&
        (aud === undefined ||
          (Array.isArray(aud) && aud.every((audience) => typeof audience === 'string'))) &&
        (externalId === undefined || typeof externalId === 'string')),
  ),
  consumeProof: parser<ConsumeProofReply>(
    ({ outcome }) => outcome === 'consumed' || outcome === 'replayed' || outcome === 'use_nonce',
  ),
  profile: parser<ProfileReply>(({ user }) => typeof user === 'object'),
  claims: parser<ClaimsReply>(
    ({ claims }) =>
      claims === null || (isObject(claims) && isText(claims['sub'], 255) && claims['sub'] !== ''),
  ),
};

export const parseMailReply = parser<MailReply>(
  ({ status }) => status === 'accepted' || status === 'refused',
);

const parseGrantRevoked = parser<GrantRevoked>(({ grant_id: id }) => isId(id));
const parseClientChanged = parser<ClientChanged>(({ client_id: id }) => isId(id));
const parseUserChanged = parser<UserChanged>(({ user_id: id }) => isUserId(id));
const parseRequestGivenUp = parser<RequestGivenUp>(({ request_id: id }) => isId(id));

/** Maps each broadcast to the tag of the cache entries that it evicts. */
export const INVALIDATIONS: Invalidations = {
  [SUBJECTS.grantRevoked]: (event) => tagOf.grant(parseGrantRevoked(event).grant_id),
  [SUBJECTS.clientChanged]: (event) => tagOf.client(parseClientChanged(event).client_id),
  [SUBJECTS.userChanged]: (event) => tagOf.user(parseUserChanged(event).user_id),
};

export const TOKEN_APP_BROADCASTS: Invalidations = {
  ...INVALIDATIONS,
  [SUBJECTS.requestGivenUp]: (event) => tagOf.request(parseRequestGivenUp(event).request_id),
};

function parser<Payload>(isValid: (fields: Unchecked<Payload>) => boolean): (payload: unknown) => Payload {
  return (payload) => {
    if (isObject(payload) && isValid(payload as Unchecked<Payload>)) return payload as Payload;
    throw new MalformedMessageError('it does not match the contract');
  };
}
