import type { OperationDescription } from '#openapi/operation.js';
import { CSRF_TOKEN, errorPages, formErrors, formOf, page, seeOther, SESSION } from '../ui/page.openapi.js';

export const ROOT_OPERATION: OperationDescription = {
  id: 'root',
  tag: 'Pages',
  summary: 'Leads to the account',
  responses: { 303: seeOther('To the account.'), ...errorPages() },
};

export const ACCOUNT_OPERATION: OperationDescription = {
  id: 'account',
  tag: 'Pages',
  summary: "The user's account",
  description: 'Also at `/auth/`.',
  security: SESSION,
  responses: {
    200: page('The account.'),
    303: seeOther('To the login, if nobody is logged in.'),
    ...errorPages(),
  },
};

export const LANGUAGE_OPERATION: OperationDescription = {
  id: 'setLanguage',
  tag: 'Pages',
  summary: 'Sets the language of the pages',
  security: SESSION,
  form: formOf({ ...CSRF_TOKEN, locale: 'One of the languages offered, or `browser`.' }),
  responses: { 303: seeOther('To the account.'), ...formErrors() },
};
