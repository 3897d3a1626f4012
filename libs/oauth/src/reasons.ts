import type { KeyProblem } from './jwk.js';

/**
 * Error codes of RFC 6749 4.1.2.1 and 5.2, RFC 6750 3.1, RFC 8628 3.5, RFC 8707 2, RFC 9449 5 and 8, OpenID Connect
 * Core 3.1.2.6 and 6, and the HTTP errors of this service.
 */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'access_denied'
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'
  | 'login_required'
  | 'consent_required'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'invalid_dpop_proof'
  | 'use_dpop_nonce'
  | 'invalid_token'
  | 'insufficient_scope'
  | 'temporarily_unavailable'
  | 'server_error'
  | 'not_found'
  | 'method_not_allowed';

/**
 * Reasons of errors, by the values that their description needs; null without values. An id is the name of the failed
 * check, followed by a dot and the variant if the check fails in several ways. The values are public.
 */
export interface Reasons
  extends
    RequestReasons,
    ClientReasons,
    AssertionReasons,
    AuthorizationReasons,
    GrantReasons,
    DeviceReasons,
    ProofReasons,
    PageReasons,
    EventReasons,
    ServiceReasons {}

/** Id of a reason without values, or an object with the id and the values. */
export type Reason<Ids extends object = Reasons> = {
  readonly [Id in keyof Ids]: Ids[Id] extends null ? Id : { readonly id: Id } & Ids[Id];
}[keyof Ids];

/** Name of the failed check, which is the part of an id before the dot. */
export type CheckOf<Ids extends object> = Exclude<NameOf<keyof Ids>, OAuthErrorCode>;

type NameOf<Id> = Id extends `${infer Name}.${string}` ? Name : Id;

/** Checks of requests to an API (RFC 6750 3.1), which the API describes for each of its routes. */
export type ApiCheck =
  | 'access_token_missing'
  | 'access_token_repeated'
  | 'access_token_inactive'
  | 'token_without_user'
  | 'token_of_user'
  | 'scope_insufficient';

/** Checks of forms, whose page shows the problem next to the field. */
export type LoginFormCheck =
  'login_form_incomplete' | 'user_unknown' | 'password_mismatch' | 'user_disabled' | 'login_throttled';
export type CodeFormCheck = 'user_code_unknown' | 'user_code_throttled';

export type Check = CheckOf<Reasons> | ApiCheck | LoginFormCheck | CodeFormCheck;

interface Limit {
  readonly max: number;
}

interface Algorithms {
  readonly algorithms: readonly string[];
}

/** In seconds. */
interface Retry {
  readonly retryAfter: number;
}

/** Problem of a parameter, never with its value. */
export interface ParameterProblem {
  readonly parameter: string;
  readonly problem:
    | 'missing'
    | 'not_single'
    | 'not_printable_ascii'
    | 'repeated'
    | 'undecodable'
    | 'not_text'
    | 'not_unicode'
    | 'control_character'
    | Limit;
}

/** Form of a request (RFC 6749 3.1, 3.2). The parts before the dot that are error codes are not checks. */
export interface RequestReasons {
  invalid_request: null;
  'invalid_request.refused': { readonly description: string };
  method_not_allowed: { readonly description: string };
  not_found: null;
  'not_found.image': null;
  'not_found.openid_provider': null;
  parameter_invalid: { readonly problems: readonly ParameterProblem[] };
  'parameter_invalid.too_many': Limit;
  'parameter_invalid.state_too_long': Limit;
  'parameter_invalid.query_too_long': Limit;
  'parameter_invalid.refresh_token_too_long': Limit;
  'body_malformed.json_as_form': null;
  'body_malformed.json_at_form_endpoint': null;
  'body_malformed.undecodable': null;
  'body_malformed.not_json': null;
  'body_malformed.not_object': null;
  'body_malformed.repeated_name': null;
  body_too_large: null;
  content_type_unsupported: null;
  authorization_header_malformed: null;
  refresh_token_missing: null;
  refresh_token_repeated: null;
  code_verifier_malformed: null;
}

/** Client authentication and the rights of a client (RFC 6749 2.3, 5.2). */
export interface ClientReasons {
  client_unknown: null;
  'client_unknown.assertion': null;
  client_secret_mismatch: null;
  client_secret_expired: null;
  client_secret_missing: null;
  client_secret_unexpected: null;
  client_disabled: null;
  'client_disabled.authorization': null;
  client_in_testing: null;
  client_id_missing: null;
  'client_id_mismatch.basic': null;
  'client_id_mismatch.assertion': null;
  client_authentication_ambiguous: null;
  basic_credentials_malformed: null;
  'grant_type_unregistered.client_credentials': null;
  'grant_type_unregistered.authorization_code': null;
  'grant_type_unregistered.device_code': null;
  'grant_type_unregistered.without_redirect_uri': null;
  unsupported_grant_type: null;
  'unsupported_grant_type.refresh_token_only': null;
  resource_server_unknown: null;
  resource_server_secret_mismatch: null;
}

/** Client assertions (RFC 7523 2.2, 3). */
export interface AssertionReasons {
  client_assertion_missing: null;
  client_assertion_unexpected: null;
  client_secret_forbidden: null;
  client_assertion_type_unsupported: null;
  'client_assertion_malformed.jwt': null;
  'client_assertion_malformed.typ': null;
  'client_assertion_malformed.crit': null;
  'client_assertion_malformed.kid': null;
  'client_assertion_malformed.key_header': { readonly header: string };
  'client_assertion_malformed.not_object': { readonly part: 'header' | 'payload' };
  'client_assertion_malformed.repeated_name': { readonly part: 'header' | 'payload' };
  client_assertion_alg_unsupported: Algorithms;
  client_assertion_issuer_mismatch: null;
  client_assertion_audience_mismatch: null;
  client_assertion_expired: null;
  'client_assertion_expired.exp': null;
  client_assertion_lifetime_exceeded: Limit;
  client_assertion_not_yet_valid: { readonly claim: string };
  client_assertion_jti_invalid: Limit;
  client_assertion_key_unknown: null;
  client_assertion_signature_mismatch: null;
  client_assertion_replayed: null;
  client_assertion_limit_exceeded: Retry;
  client_keys_unavailable: null;
}

/** Authorization requests (RFC 6749 4.1.2.1, RFC 9126 2.3, OpenID Connect Core 3.1.2.6). */
export interface AuthorizationReasons {
  client_id_unregistered: null;
  client_document_refused: null;
  client_document_unavailable: null;
  client_document_limit_exceeded: { readonly host: string };
  'redirect_uri_unregistered.missing': null;
  redirect_uri_unregistered: null;
  push_required: null;
  state_missing: null;
  response_type_missing: null;
  response_type_unsupported: null;
  response_mode_unsupported: { readonly modes: readonly string[] };
  'response_mode_unsupported.form_post': null;
  'code_challenge_invalid.missing': null;
  'code_challenge_invalid.required': null;
  'code_challenge_invalid.required_without_state': null;
  'code_challenge_invalid.plain': null;
  'code_challenge_invalid.method': null;
  'code_challenge_invalid.format': null;
  dpop_jkt_invalid: null;
  'dpop_jkt_invalid.other_key': null;
  scope_unregistered: { readonly requested: readonly string[]; readonly available: readonly string[] };
  'scope_unregistered.none_left': null;
  resource_unknown: { readonly apis: readonly string[] };
  'resource_unknown.too_many': null;
  prompt_invalid: { readonly prompts: readonly string[] };
  'prompt_invalid.none': null;
  max_age_invalid: null;
  claims_invalid: null;
  id_token_hint_invalid: null;
  request_object_unsupported: null;
  request_uri_unsupported: null;
  'request_uri_invalid.unknown': null;
  'request_uri_invalid.answered': null;
  'request_uri_invalid.expired': null;
  'request_uri_invalid.pushed': null;
  push_limit_exceeded: Retry & { readonly counter: string };
  decision_missing: null;
  consent_denied: null;
  login_impossible: null;
  login_too_old: null;
  other_user_logged_in: null;
  consent_impossible: null;
}

export type Credential = 'code' | 'device code' | 'refresh token';

interface Refused {
  readonly credential: Credential;
}

/** Codes and tokens (RFC 6749 5.2). */
export interface GrantReasons {
  unrecognized: Refused;
  wrong_kind: Refused;
  expired: Refused;
  unknown: Refused;
  issued_before_failover: Refused;
  revoked: Refused;
  other_client: Refused;
  'other_client.token': null;
  key_mismatch: Refused;
  key_unexpected: Refused;
  scope_not_granted: Refused & { readonly sent: string };
  scope_malformed: null;
  resource_exceeded: Refused;
  redirect_uri_mismatch: Refused;
  verifier_missing: Refused;
  verifier_unexpected: Refused;
  verifier_mismatch: Refused;
  code_replayed: Refused;
  refresh_token_reused: Refused;
}

/** Devices (RFC 8628 3.5). */
export interface DeviceReasons {
  decision_pending: Refused;
  polled_too_early: Refused;
  decision_denied: Refused;
  device_limit_exceeded: Retry;
  device_answered: null;
}

/** DPoP proofs (RFC 9449 4.3). */
export interface ProofReasons {
  'dpop_header_invalid.missing': null;
  'dpop_header_invalid.repeated': null;
  dpop_proof_missing: null;
  proof_limit_exceeded: Retry;
  dpop_proof_too_long: Limit;
  'dpop_proof_malformed.jwt': null;
  'dpop_proof_malformed.crit': null;
  'dpop_proof_malformed.payload': null;
  dpop_claim_missing: null;
  dpop_typ_mismatch: null;
  dpop_alg_unsupported: Algorithms;
  'dpop_alg_unsupported.fapi': Algorithms;
  'dpop_jwk_invalid.missing': null;
  dpop_jwk_invalid: { readonly problem: KeyProblem };
  dpop_signature_mismatch: null;
  dpop_htm_mismatch: null;
  dpop_htu_mismatch: null;
  dpop_nonce_unknown: null;
  dpop_nonce_missing: null;
  dpop_nonce_expired: null;
  /** Seconds. */
  'dpop_iat_out_of_range.past': Limit;
  'dpop_iat_out_of_range.future': null;
  dpop_ath_mismatch: null;
  'dpop_jti_invalid.missing': null;
  'dpop_jti_invalid.too_long': Limit;
  dpop_proof_replayed: null;
}

/** Forms and logins. The app that handles the login says the problem of its response. */
export interface PageReasons {
  form_field_repeated: null;
  cookie_missing: null;
  csrf_token_mismatch: null;
  origin_mismatch: null;
  sec_fetch_site_mismatch: null;
  locale_unsupported: null;
  login_transaction_invalid: null;
  login_cancelled: null;
  'login_cancelled.by_user': null;
  login_response_invalid: { readonly problem: string };
  login_user_disabled: null;
  login_unavailable: null;
  'login_unavailable.service': null;
  login_starts_exceeded: null;
  post_logout_redirect_uri_unregistered: null;
  'post_logout_redirect_uri_unregistered.without_client': null;
  logout_token_invalid: null;
  'logout_token_invalid.missing': null;
}

/** Event streams (section 8 of the Shared Signals Framework 1.0). */
export interface EventReasons {
  event_token_missing: null;
  event_token_inactive: null;
  event_scope_insufficient: { readonly scope: string };
  event_stream_exists: null;
  event_stream_unnamed: null;
  event_stream_unknown: null;
  'event_stream_unknown.pushed': null;
  event_subject_invalid: null;
  event_subjects_exceeded: null;
  event_poll_malformed: null;
  event_limit_exceeded: Retry & { readonly max: number };
  'event_limit_exceeded.verification': Retry;
}

/** Failures of the service itself. */
export interface ServiceReasons {
  temporarily_unavailable: null;
  server_error: null;
  request_unconfirmed: Refused;
  password_queue_full: null;
  id_token_key_missing: null;
}
