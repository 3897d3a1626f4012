import type { OperationDescription } from '#openapi/operation.js';
import {
  continues,
  CSRF_TOKEN,
  errorPages,
  formErrors,
  formOf,
  page,
  seeOther,
  SESSION,
} from '../ui/page.openapi.js';

export const ROOT_OPERATION: OperationDescription = {
  id: 'root',
  tag: 'Pages',
  summary: 'Redirects to the account page',
  responses: { 303: seeOther('To the account page.'), ...errorPages() },
};

export const ACCOUNT_OPERATION: OperationDescription = {
  id: 'account',
  tag: 'Pages',
  summary: 'The account page',
  description: 'Also at `/auth/`.',
  security: SESSION,
  responses: {
    200: page('The account page.'),
    303: seeOther('To the login page, if no user is logged in.'),
    ...errorPages(),
  },
};

export const LANGUAGE_OPERATION: OperationDescription = {
  id: 'setLanguage',
  tag: 'Pages',
  summary: 'Sets the language of the pages',
  security: SESSION,
  form: formOf({ ...CSRF_TOKEN, locale: 'One of the offered languages, or `browser`.' }),
  responses: { 200: continues('To the account page.'), ...formErrors() },
};
