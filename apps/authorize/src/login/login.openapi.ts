import type { OperationDescription } from '#openapi/operation.js';
import { continues, CSRF_TOKEN, errorPages, formErrors, formOf, page, seeOther } from '../ui/page.openapi.js';

// Password logins and external logins have separate controllers at this path; only one of them is registered.

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
  responses: {
    200: continues('To the next page, with the session.'),
    303: seeOther('To the next page: the user has logged in in another tab.'),
    ...formErrors(401),
  },
};
