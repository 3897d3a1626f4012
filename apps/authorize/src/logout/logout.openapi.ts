import type { OperationDescription, ParameterDescription } from '#openapi/operation.js';
import { LIMITS } from '#oauth/parameters.js';
import { errorPages, page, ReceivesForm, seeOther } from '../ui/page.openapi.js';

const PARAMETERS = {
  id_token_hint: 'An ID token of the user. If it is of the current session, the user is not asked.',
  client_id: 'Identifies the application if there is no `id_token_hint`.',
  post_logout_redirect_uri: 'Registered address of the application, to which the browser is redirected.',
  state: 'Returned to `post_logout_redirect_uri`.',
  ui_locales: 'Languages of the page (BCP 47), in order of preference.',
} as const;

const END_SESSION_QUERY: Readonly<Record<string, ParameterDescription>> = Object.fromEntries(
  (Object.keys(PARAMETERS) as (keyof typeof PARAMETERS)[]).map((name) => [
    name,
    { in: 'query', description: PARAMETERS[name], schema: { type: 'string', maxLength: LIMITS[name] } },
  ]),
);

const AFTER_LOGOUT =
  'To `post_logout_redirect_uri` with `state`, to the login page, or to the log-out of the product.';

export const END_SESSION_OPERATION: OperationDescription = {
  id: 'endSession',
  tag: 'Authorization',
  summary: 'Logs the user out at the request of an application',
  description:
    'The `end_session_endpoint` of RP-Initiated Logout 1.0. Also takes POST, which continues here. A request that fails a check is never redirected: a logged-in user is asked, others get an error page. Without OpenID Connect (`ID_TOKEN_KEYS`) it is only the page after a log-out at the product.',
  parameters: END_SESSION_QUERY,
  responses: {
    200: page('Asks the user, or confirms the log-out.'),
    303: seeOther(AFTER_LOGOUT),
    ...errorPages(400, 403),
    405: page('OpenID Connect is off, and users log in here.', {
      Allow: { description: 'Supported methods.' },
    }),
  },
};

const AFTER_OWN_LOGOUT = 'To the login page, or to the log-out of the product.';

export const LogoutOperation = ReceivesForm({
  id: 'logout',
  summary: 'Logs out',
  description:
    'With an authorization request in the query, a new login continues it. Without `csrf_token` the form is an end-session request (RP-Initiated Logout 1.0 2), which continues at the same path with GET.',
  fields: PARAMETERS,
  required: [],
  continuesTo: AFTER_OWN_LOGOUT,
});

export const ConfirmLogoutOperation = ReceivesForm({
  id: 'confirmLogout',
  summary: 'Confirms a log-out that an application requested',
  description: 'Takes the query of the end-session request.',
  parameters: END_SESSION_QUERY,
  continuesTo: AFTER_LOGOUT,
});

export const LogoutEverywhereOperation = ReceivesForm({
  id: 'logoutEverywhere',
  summary: 'Ends every session of the user',
  description: 'Applications keep their grants.',
  continuesTo: AFTER_OWN_LOGOUT,
});
