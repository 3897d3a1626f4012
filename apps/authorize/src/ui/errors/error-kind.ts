import type { OAuthError } from '#oauth/oauth-error.js';

type Party = 'you' | 'application' | 'us' | 'nobody';

/** Advice to the user, with the text error.advice.<name> in i18n/error.messages.ts. */
export type Advice =
  | 'start_at_application'
  | 'contact_developer'
  | 'retry_or_contact_developer'
  | 'open_again'
  | 'start_again'
  | 'ask_support'
  | 'go_on'
  | 'allow_cookies'
  | 'close'
  | 'check_address'
  | 'enter_less'
  | 'wait'
  | 'contact_us'
  | 'review_apps';

interface Remedy {
  readonly party: Party;
  readonly advice: Advice;
}

/**
 * Kinds of error pages, with the party that can fix the error and the advice. To add a kind:
 * 1. add a kind here;
 * 2. add its title and text in every language to i18n/error-kind.messages.ts or, for the product's own login, to
 *    i18n/external-login.messages.ts (error.<kind>.title and error.<kind>.what);
 * 3. map the failed check to it in KIND_BY_CHECK.
 */
export const ERROR_KINDS = {
  client_missing: { party: 'application', advice: 'contact_developer' },
  client_unknown: { party: 'application', advice: 'contact_developer' },
  client_disabled: { party: 'us', advice: 'review_apps' },
  redirect_missing: { party: 'application', advice: 'contact_developer' },
  redirect_mismatch: { party: 'application', advice: 'contact_developer' },
  parameter_malformed: { party: 'you', advice: 'retry_or_contact_developer' },
  request_malformed: { party: 'application', advice: 'contact_developer' },
  request_expired: { party: 'you', advice: 'start_at_application' },
  request_answered: { party: 'you', advice: 'start_at_application' },
  form_incomplete: { party: 'you', advice: 'open_again' },
  form_outdated: { party: 'you', advice: 'start_again' },
  form_foreign: { party: 'you', advice: 'close' },
  logged_in_elsewhere: { party: 'you', advice: 'go_on' },
  cookie_missing: { party: 'you', advice: 'allow_cookies' },
  cookie_host: { party: 'you', advice: 'start_again' },
  cookie_http: { party: 'you', advice: 'start_again' },
  cookie_https: { party: 'us', advice: 'start_again' },
  login_outdated: { party: 'you', advice: 'start_again' },
  login_cancelled: { party: 'you', advice: 'start_again' },
  login_refused: { party: 'us', advice: 'contact_us' },
  login_disabled: { party: 'us', advice: 'ask_support' },
  login_unavailable: { party: 'us', advice: 'wait' },
  request_unreadable: { party: 'you', advice: 'open_again' },
  not_found: { party: 'you', advice: 'check_address' },
  method_not_allowed: { party: 'you', advice: 'start_at_application' },
  too_large: { party: 'you', advice: 'enter_less' },
  not_a_form: { party: 'application', advice: 'retry_or_contact_developer' },
  busy: { party: 'nobody', advice: 'wait' },
  unavailable: { party: 'us', advice: 'wait' },
  server_error: { party: 'us', advice: 'contact_us' },
} as const satisfies Record<string, Remedy>;

export type ErrorKind = keyof typeof ERROR_KINDS;

type Detail = OAuthError['detail'];

/** By the failed check (`detail.check` of the error) and its details. */
const KIND_BY_CHECK = new Map<unknown, (detail: Detail) => ErrorKind>([
  ['client', ({ client_id: sent }) => (sent === undefined ? 'client_missing' : 'client_unknown')],
  ['client_disabled', () => 'client_disabled'],
  [
    'redirect_uri',
    ({ redirect_uri: sent }) => (sent === undefined ? 'redirect_missing' : 'redirect_mismatch'),
  ],
  ['parameters', () => 'parameter_malformed'],
  ['request_uri', ({ found }) => KIND_BY_PUSHED_REQUEST.get(found) ?? 'request_malformed'],
  ['decision', () => 'form_incomplete'],
  ['locale', () => 'form_incomplete'],
  ['cookie', () => 'cookie_missing'],
  ['csrf_token', () => 'form_outdated'],
  ['origin', () => 'form_foreign'],
  ['sec_fetch_site', () => 'form_foreign'],
  ['password_gate', () => 'busy'],
  ['login_transaction', () => 'login_outdated'],
  ['login_cancelled', () => 'login_cancelled'],
  ['login_answer', () => 'login_refused'],
  ['login_disabled', () => 'login_disabled'],
  ['login_unavailable', () => 'login_unavailable'],
  ['login_starts', () => 'busy'],
]);

/** By the outcome for the pushed request. A request of another client counts as unknown. */
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
  return KIND_BY_CHECK.get(detail['check'])?.(detail) ?? KIND_BY_STATUS.get(status) ?? 'server_error';
}
