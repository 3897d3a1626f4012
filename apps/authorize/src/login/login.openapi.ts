import { json, type OperationDescription } from '#openapi/operation.js';
import { OAuthErrorBody } from '#openapi/oauth-errors.js';
import { CSRF_TOKEN, errorPages, formErrors, formOf, page, seeOther, SESSION } from '../ui/page.openapi.js';

// Each login method has its own controllers at the same paths; only the paths of the configured method exist.

export const LOGIN_OPERATION: OperationDescription = {
  id: 'login',
  tag: 'Pages',
  summary: 'The login page',
  description:
    "The query is the authorization request to continue, if any. Redirects to the product's login if users log in there.",
  responses: {
    200: page('The login page.'),
    303: seeOther("To the next page if a user is logged in; or to the product's login."),
    ...errorPages(400, 403),
  },
};

export const SUBMIT_LOGIN_OPERATION: OperationDescription = {
  id: 'submitLogin',
  tag: 'Pages',
  summary: 'Submits the login page',
  form: formOf({ ...CSRF_TOKEN, username: 'Username or email address.', password: 'The password.' }, []),
  responses: { 303: seeOther('To the next page, with the session.'), ...formErrors(401) },
};

export const LOGIN_RETURN_OPERATION: OperationDescription = {
  id: 'loginReturn',
  tag: 'Pages',
  summary: "Callback of the product's login",
  description:
    'The response of an OpenID provider (OpenID Connect Core 3.1.2.5, 3.1.2.6); or, for a login by signed JWT, a cancelled login (`error=access_denied` with `challenge`).',
  responses: { 303: seeOther('To the next page, with the session.'), ...errorPages(400, 403) },
};

export const JWT_LOGIN_OPERATION: OperationDescription = {
  id: 'jwtLogin',
  tag: 'Pages',
  summary: 'Receives a login of the product as a signed JWT',
  description: 'Only if users log in by signed JWT (docs/login.md).',
  form: formOf({ assertion: 'JWT of the product.', repeated: '`yes` if our own page resubmits the form.' }, [
    'assertion',
  ]),
  responses: {
    200: page('Resubmits the form, so that the browser adds the cookies of this site.'),
    303: seeOther('To the next page, with the session.'),
    ...formErrors(),
  },
};

export const LOGIN_KEYS_OPERATION: OperationDescription = {
  id: 'loginKeys',
  tag: 'Metadata',
  summary: 'The keys that sign login challenges',
  description: 'RFC 7517 5. Only if users log in by signed JWT.',
  responses: {
    200: {
      description: 'The keys.',
      content: {
        'application/jwk-set+json': {
          schema: {
            type: 'object',
            required: ['keys'],
            properties: { keys: { type: 'array', items: { type: 'object' } } },
          },
        },
      },
    },
    ...errorPages(),
  },
};

export const BACK_CHANNEL_LOGOUT_OPERATION: OperationDescription = {
  id: 'backChannelLogout',
  tag: 'Pages',
  summary: 'Ends the sessions that a logout token names',
  description:
    'OpenID Connect Back-Channel Logout 1.0 2.5. Called by the server of the OpenID provider or product where users log in.',
  form: formOf({ logout_token: 'JWT of the provider or product.' }),
  responses: {
    200: { description: 'The sessions have ended.' },
    ...errorPages(413, 415),
    ...Object.fromEntries(
      [400, 500, 503].map((status) => [
        status,
        { description: 'No session has ended.', content: json(OAuthErrorBody) },
      ]),
    ),
  },
};

export const LOGGED_OUT_OPERATION: OperationDescription = {
  id: 'loggedOut',
  tag: 'Pages',
  summary: 'Landing page after a log-out',
  description: 'Only if users log in at the product.',
  responses: {
    200: page('Confirms the log-out.'),
    303: seeOther('To the account page, if a user is logged in.'),
    ...errorPages(),
  },
};

export const LOGOUT_OPERATION: OperationDescription = {
  id: 'logout',
  tag: 'Pages',
  summary: 'Logs out',
  description: 'With an authorization request in the query, a new login continues it.',
  security: SESSION,
  form: formOf(CSRF_TOKEN),
  responses: { 303: seeOther('To the login page, or to the log-out of the product.'), ...formErrors() },
};

export const LOGOUT_EVERYWHERE_OPERATION: OperationDescription = {
  id: 'logoutEverywhere',
  tag: 'Pages',
  summary: 'Ends every session of the user',
  description: 'Applications keep their grants.',
  security: SESSION,
  form: formOf(CSRF_TOKEN),
  responses: { 303: seeOther('To the login page, or to the log-out of the product.'), ...formErrors() },
};
