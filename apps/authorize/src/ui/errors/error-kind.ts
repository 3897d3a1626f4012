import type { Party } from '#error-guide/guide-entry.js';
import type { Check } from '#error-guide/error-guide.js';
import type { OAuthError } from '#oauth/oauth-error.js';
import type { MessageId } from '../i18n/messages.js';

type AdviceOf<Id> = Id extends `error.advice.${infer Name}` ? Name : never;

/** Advice to the user. */
export type Advice = AdviceOf<MessageId>;

interface Remedy {
  /** Null if nobody needs to act. Pages do not distinguish the operator from the platform team. */
  readonly party: Exclude<Party, 'platform'> | null;
  readonly advice: Advice;
}

/** Kinds of error pages. The texts are error.<kind>.title and error.<kind>.what in the folder i18n. */
export const ERROR_KINDS = {
  client_missing: { party: 'application', advice: 'contact_developer' },
  client_unknown: { party: 'application', advice: 'contact_developer' },
  client_document: { party: 'application', advice: 'contact_developer' },
  client_disabled: { party: 'operator', advice: 'review_apps' },
  client_testing: { party: 'application', advice: 'ask_invitation' },
  redirect_missing: { party: 'application', advice: 'contact_developer' },
  redirect_mismatch: { party: 'application', advice: 'contact_developer' },
  logout_malformed: { party: 'application', advice: 'contact_developer' },
  logout_client_missing: { party: 'application', advice: 'contact_developer' },
  logout_redirect: { party: 'application', advice: 'contact_developer' },
  parameter_malformed: { party: 'user', advice: 'retry_or_contact_developer' },
  request_malformed: { party: 'application', advice: 'contact_developer' },
  request_expired: { party: 'user', advice: 'start_at_application' },
  request_answered: { party: 'user', advice: 'start_at_application' },
  form_incomplete: { party: 'user', advice: 'open_again' },
  form_outdated: { party: 'user', advice: 'start_again' },
  form_foreign: { party: 'user', advice: 'close' },
  logged_in_elsewhere: { party: 'user', advice: 'continue' },
  cookie_missing: { party: 'user', advice: 'allow_cookies' },
  cookie_host: { party: 'user', advice: 'start_again' },
  cookie_http: { party: 'user', advice: 'start_again' },
  cookie_https: { party: 'operator', advice: 'start_again' },
  login_outdated: { party: 'user', advice: 'start_again' },
  login_cancelled: { party: 'user', advice: 'start_again' },
  login_refused: { party: 'operator', advice: 'contact_us' },
  login_disabled: { party: 'operator', advice: 'ask_support' },
  login_unavailable: { party: 'operator', advice: 'wait' },
  request_unreadable: { party: 'user', advice: 'open_again' },
  not_found: { party: 'user', advice: 'check_address' },
  method_not_allowed: { party: 'user', advice: 'start_at_application' },
  too_large: { party: 'user', advice: 'enter_less' },
  not_a_form: { party: 'application', advice: 'retry_or_contact_developer' },
  busy: { party: null, advice: 'wait' },
  unavailable: { party: 'operator', advice: 'wait' },
  server_error: { party: 'operator', advice: 'contact_us' },
} as const satisfies Record<string, Remedy>;

export type ErrorKind = keyof typeof ERROR_KINDS;

type Detail = OAuthError['detail'];

const KIND_BY_CHECK = new Map<Check | undefined, (detail: Detail) => ErrorKind>([
  ['client_id_missing', () => 'client_missing'],
  ['client_id_unregistered', () => 'client_unknown'],
  ['client_document_refused', () => 'client_document'],
  ['client_document_unavailable', () => 'client_document'],
  ['client_document_limit_exceeded', () => 'busy'],
  ['client_disabled', () => 'client_disabled'],
  ['client_in_testing', () => 'client_testing'],
  ['grant_type_unregistered', () => 'request_malformed'],
  [
    'redirect_uri_unregistered',
    ({ redirect_uri: sent }) => (sent === undefined ? 'redirect_missing' : 'redirect_mismatch'),
  ],
  ['id_token_hint_invalid', () => 'logout_malformed'],
  [
    'post_logout_redirect_uri_unregistered',
    ({ client_id: clientId }) => (clientId === undefined ? 'logout_client_missing' : 'logout_redirect'),
  ],
  ['parameter_invalid', () => 'parameter_malformed'],
  ['request_uri_invalid', ({ found }) => KIND_BY_PUSHED_REQUEST.get(found) ?? 'request_malformed'],
  ['device_answered', () => 'request_answered'],
  // Occurs only for devices, if the registration of the client has changed since the request.
  ['scope_unregistered', () => 'request_expired'],
  ['decision_missing', () => 'form_incomplete'],
  ['locale_unsupported', () => 'form_incomplete'],
  ['cookie_missing', () => 'cookie_missing'],
  ['csrf_token_mismatch', () => 'form_outdated'],
  ['origin_mismatch', () => 'form_foreign'],
  ['sec_fetch_site_mismatch', () => 'form_foreign'],
  ['password_queue_full', () => 'busy'],
  ['login_transaction_invalid', () => 'login_outdated'],
  ['login_cancelled', () => 'login_cancelled'],
  ['login_response_invalid', () => 'login_refused'],
  ['login_user_disabled', () => 'login_disabled'],
  ['login_unavailable', () => 'login_unavailable'],
  ['login_starts_exceeded', () => 'busy'],
]);

/** Keyed by the state of the pushed request. A request of another client counts as unknown. */
const KIND_BY_PUSHED_REQUEST = new Map<unknown, ErrorKind>([
  ['answered', 'request_answered'],
  ['unknown', 'request_expired'],
  ['other_client', 'request_expired'],
]);

const KIND_BY_STATUS = new Map<number, ErrorKind>([
  [400, 'request_unreadable'],
  [403, 'form_foreign'],
  [404, 'not_found'],
  [405, 'method_not_allowed'],
  [413, 'too_large'],
  [415, 'not_a_form'],
  [503, 'unavailable'],
]);

export function errorKind({ status, detail }: OAuthError): ErrorKind {
  return KIND_BY_CHECK.get(detail.check)?.(detail) ?? KIND_BY_STATUS.get(status) ?? 'server_error';
}
