import type { OperationDescription } from '#openapi/operation.js';
import { CSRF_TOKEN, formErrors, formOf, seeOther, SESSION } from '../ui/page.openapi.js';

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
