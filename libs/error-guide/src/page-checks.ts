import type { CheckOf, LoginFormCheck, PageReasons } from '#oauth/reasons.js';
import type { Descriptions } from './descriptions.js';
import type { CheckEntries } from './guide-entry.js';

const TRY_LOGIN_AGAIN = 'Start the login again; if it happens again, report the reference.';

/** Advice to enable the account. The command reports whether the product has disabled the account too. */
const ENABLE = {
  operator: 'Enable the account if it may be used again.',
  commands: ['user enable {user}'],
} as const;

/** Checks of forms, cookies and logins on pages. The pages also explain to the user what to do. */
export const PAGE_CHECKS = {
  form_field_repeated: {
    title: 'A field of the form is repeated',
    meaning: 'No page of this service sends a field twice: a script or a browser extension changed the form.',
    user: 'Open the page again, without extensions.',
  },
  console_role_missing: {
    title: 'The operator lacks a role in the console',
    meaning: 'Each page and action of the console needs a role: `viewer`, `support` or `admin`.',
    operator:
      'Give the role with `console grant`, or with the group at the login provider that `CONSOLE_ROLES` names.',
  },
  cookie_missing: {
    title: 'The browser did not send our cookie',
    meaning: 'Cookies are blocked, or the page was opened at another address than `AUTH_URL`.',
    user: 'Allow cookies for this site, and start again at the application.',
    platform:
      'The page must be opened at `AUTH_URL`: check the proxy’s `X-Forwarded-Proto` and `TRUSTED_PROXIES`.',
  },
  csrf_token_mismatch: {
    title: 'The form is out of date',
    meaning:
      'The user has logged in or out in another tab since the page was opened, or it was open for too long.',
    user: 'Open the page again.',
  },
  origin_mismatch: {
    title: 'Another site sent the form',
    meaning: 'The `Origin` of the form is not this service. It is refused, because it may be forged (CSRF).',
    user: 'Close the page; nothing was changed.',
    application: 'Link to the authorization URL. Never copy our forms, and never frame our pages.',
    platform: 'If it happens to all users, `AUTH_URL` is not the address that browsers open.',
  },
  sec_fetch_site_mismatch: {
    title: 'Another site sent the form',
    meaning:
      'The browser says that the form came from another site (`Sec-Fetch-Site`). It may be forged (CSRF).',
    user: 'Close the page; nothing was changed.',
    application: 'Link to the authorization URL. Never copy our forms, and never frame our pages.',
  },
  locale_unsupported: {
    title: 'The language is not offered',
    meaning: 'The language form has a value that the page does not offer.',
    user: 'Open the page again and choose from the list.',
  },
  login_refused: {
    title: 'The login was refused',
    meaning: 'User name or password is wrong, the account is disabled, or there were too many attempts.',
    user: 'Check user name and password; after too many attempts wait as long as the page says.',
  },
  login_form_incomplete: {
    title: 'The login form is incomplete',
    meaning: 'User name or password is missing or too long.',
    user: 'Enter both.',
    publishedAs: 'login_refused',
  },
  user_unknown: {
    title: 'No user has this name',
    meaning:
      'The user name is misspelt, or the account does not exist. The user sees the same as for a wrong password.',
    user: 'Check the user name.',
    operator: 'See whether the account exists.',
    commands: ['user list'],
    publishedAs: 'login_refused',
  },
  password_mismatch: {
    title: 'The password is wrong',
    meaning: 'The account exists. The user sees the same as for an unknown user name.',
    user: 'Enter the right password.',
    operator: 'Give the account a new one.',
    commands: ['user set-password {user}'],
    publishedAs: 'login_refused',
  },
  user_disabled: {
    title: 'The account is disabled',
    meaning: 'The password is right, but the operator or the product has disabled the account.',
    ...ENABLE,
    publishedAs: 'login_refused',
  },
  login_throttled: {
    title: 'Too many logins',
    meaning: 'Too many attempts for this account, device or network. The counters expire.',
    user: 'Wait as long as the page says, or use a device on which you logged in before.',
    platform: 'If all users are told to wait, `TRUSTED_PROXIES` does not name the proxy.',
    publishedAs: 'login_refused',
  },
  login_transaction_invalid: {
    title: 'The login has expired, or began in another browser',
    meaning:
      'A login by the product’s own login is valid for some minutes, once, in the browser that began it.',
    user: TRY_LOGIN_AGAIN,
  },
  login_cancelled: {
    title: 'The login was cancelled',
    meaning: 'The user, or the product’s own login, has cancelled it.',
    user: 'Start again at the application.',
  },
  login_response_invalid: {
    title: 'The response of the product’s login is not valid',
    meaning: 'A check of the response failed: `failed` in the log names the claim or parameter.',
    user: TRY_LOGIN_AGAIN,
    platform:
      'Compare the settings of the login (`LOGIN_…`, `CONSOLE_…`, `DEVELOPERS_…`) with the provider, its keys and its clock.',
  },
  login_user_disabled: {
    title: 'The account is disabled',
    meaning: 'The product’s login knows the user, but the account is disabled here.',
    ...ENABLE,
  },
  login_unavailable: {
    title: 'The product’s login does not respond',
    meaning: 'The OpenID provider, or a server that the login needs, did not respond in time.',
    user: 'Try again in a moment.',
    platform: 'Check that the provider is up and can be reached from the authorize app.',
  },
  login_starts_exceeded: {
    title: 'Too many logins began at one address',
    meaning: 'One network address begins more logins, or larger ones, than the service keeps.',
    user: 'Wait a moment.',
    platform: 'If all users are told to wait, `TRUSTED_PROXIES` does not name the proxy.',
  },
  post_logout_redirect_uri_unregistered: {
    title: 'The post_logout_redirect_uri is not registered',
    meaning:
      'It differs from every registered one, or the request names no application. They are compared character by character (RP-Initiated Logout 1.0 3).',
    application: 'Send `id_token_hint` or `client_id` as well, and a registered address.',
    operator: 'If the address is the application’s, register it beside those that it has.',
    commands: ['client update {client_id} --post-logout-redirect-uri {post_logout_redirect_uris}'],
  },
  logout_token_invalid: {
    title: 'The logout token is not valid',
    meaning:
      'The back-channel logout of the product’s login has no token, or one that a check refuses: `failed` in the log names it.',
    platform:
      'Compare issuer, audience, type, keys and clock of the token’s sender with the settings (`LOGIN_…`).',
  },
} as const satisfies CheckEntries<CheckOf<PageReasons> | LoginFormCheck>;

export const PAGE_DESCRIPTIONS: Descriptions<PageReasons> = {
  form_field_repeated: 'a form field is repeated',
  cookie_missing: 'your browser did not send the cookie of this site; cookies are required to log in',
  csrf_token_mismatch: 'the form is out of date, or it did not come from this site',
  origin_mismatch: 'the form was sent by another site',
  sec_fetch_site_mismatch: 'the form was sent by another site',
  locale_unsupported: "the parameter 'locale' must be one of the offered languages",
  login_transaction_invalid: 'the login has expired or was started in another browser',
  login_cancelled: 'the login was cancelled',
  'login_cancelled.by_user': 'the user cancelled the login',
  login_response_invalid: ({ problem }) => problem,
  login_user_disabled: 'the account is disabled',
  login_unavailable: 'the OpenID provider is not responding; try again in a moment',
  'login_unavailable.service': 'the service is temporarily unavailable: repeat the request in a moment',
  login_starts_exceeded: 'too many logins were started from this address',
  post_logout_redirect_uri_unregistered:
    "the parameter 'post_logout_redirect_uri' is not registered for this application",
  'post_logout_redirect_uri_unregistered.without_client':
    "the parameter 'post_logout_redirect_uri' needs 'id_token_hint' or 'client_id'",
  logout_token_invalid: 'the logout token is not valid',
  'logout_token_invalid.missing': "the parameter 'logout_token' is missing",
};
