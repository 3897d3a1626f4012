import { json, type OperationDescription } from '#openapi/operation.js';
import { OAuthErrorBody } from '#openapi/oauth-errors.js';
import { CSRF_TOKEN, errorPages, formErrors, formOf, page, seeOther, SESSION } from '../ui/page.openapi.js';

// Each way of logging in has controllers of its own at the same paths: by password, at an OpenID provider, or by the product's
// hand-over. Only the paths of the configured one exist.

export const LOGIN_OPERATION: OperationDescription = {
  id: 'login',
  tag: 'Pages',
  summary: 'The login',
  description:
    "The query is the authorization request to continue, if there is one. If users log in at the product, this leads to the product's login.",
  responses: {
    200: page('The login page.'),
    303: seeOther("On, if somebody is logged in; or to the product's login."),
    ...errorPages(400, 403),
  },
};

export const SUBMIT_LOGIN_OPERATION: OperationDescription = {
  id: 'submitLogin',
  tag: 'Pages',
  summary: 'The form of the login page',
  form: formOf({ ...CSRF_TOKEN, username: 'Username or email address.', password: 'The password.' }, []),
  responses: { 303: seeOther('On, with the session.'), ...formErrors(401) },
};

export const LOGIN_RETURN_OPERATION: OperationDescription = {
  id: 'loginReturn',
  tag: 'Pages',
  summary: "The way back from the product's login",
  description:
    'The answer of an OpenID provider (OpenID Connect Core 3.1.2.5, 3.1.2.6); or, after a hand-over, the user who cancelled (`error=access_denied` with `challenge`).',
  responses: { 303: seeOther('On, with the session.'), ...errorPages(400, 403) },
};

export const HAND_OVER_OPERATION: OperationDescription = {
  id: 'handOver',
  tag: 'Pages',
  summary: 'The user whom the product hands over',
  description: 'Only if users log in by hand-over (docs/login.md).',
  form: formOf({ assertion: 'JWT of the product.', repeated: '`yes` if our own page sends it.' }, [
    'assertion',
  ]),
  responses: {
    200: page('Sends the form again, so that the browser adds the cookies of this site.'),
    303: seeOther('On, with the session.'),
    ...formErrors(),
  },
};

export const LOGIN_KEYS_OPERATION: OperationDescription = {
  id: 'loginKeys',
  tag: 'Metadata',
  summary: 'The keys that sign login challenges',
  description: 'RFC 7517 5. Only if users log in by hand-over.',
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
    'OpenID Connect Back-Channel Logout 1.0 2.5. The server of the OpenID provider, or of the product that hands users over, calls it. Only if users log in there.',
  form: formOf({ logout_token: 'JWT of the provider or product.' }),
  responses: {
    200: { description: 'The sessions are ended.' },
    ...errorPages(413, 415),
    ...Object.fromEntries(
      [400, 500, 503].map((status) => [
        status,
        { description: 'Nothing is ended.', content: json(OAuthErrorBody) },
      ]),
    ),
  },
};

export const LOGGED_OUT_OPERATION: OperationDescription = {
  id: 'loggedOut',
  tag: 'Pages',
  summary: 'Where the browser is after a log-out',
  description: 'Only if users log in at the product.',
  responses: {
    200: page('Says that the user is logged out.'),
    303: seeOther('To the account, if somebody is logged in.'),
    ...errorPages(),
  },
};

export const LOGOUT_OPERATION: OperationDescription = {
  id: 'logout',
  tag: 'Pages',
  summary: 'Logs out',
  description: 'With an authorization request in the query, the login then continues it.',
  security: SESSION,
  form: formOf(CSRF_TOKEN),
  responses: { 303: seeOther('To the login, or to the log-out of the product.'), ...formErrors() },
};

export const LOGOUT_EVERYWHERE_OPERATION: OperationDescription = {
  id: 'logoutEverywhere',
  tag: 'Pages',
  summary: 'Ends every session of the user',
  description: 'The grants of applications stay.',
  security: SESSION,
  form: formOf(CSRF_TOKEN),
  responses: { 303: seeOther('To the login, or to the log-out of the product.'), ...formErrors() },
};
