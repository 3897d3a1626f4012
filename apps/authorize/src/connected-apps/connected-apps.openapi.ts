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

const TO_LIST = 'To the list, or to the login page if no user is logged in.';

export const LIST_OPERATION: OperationDescription = {
  id: 'connectedApps',
  tag: 'Pages',
  summary: 'Lists the connected applications',
  security: SESSION,
  parameters: { page: { in: 'query', description: '1-based page number.' } },
  responses: {
    200: page('The list.'),
    303: seeOther('To the login page, if no user is logged in.'),
    ...errorPages(),
  },
};

export const CONFIRM_REVOKE_OPERATION: OperationDescription = {
  id: 'confirmRevoke',
  tag: 'Pages',
  summary: 'Confirms the revocation of an application',
  security: SESSION,
  parameters: { client_id: { in: 'query', required: true, description: 'The application.' } },
  responses: { 200: page('The confirmation page.'), 303: seeOther(TO_LIST), ...errorPages() },
};

export const REVOKE_APP_OPERATION: OperationDescription = {
  id: 'revokeApp',
  tag: 'Pages',
  summary: 'Revokes the access of an application',
  description: '503 if the revocation is recorded but not yet complete; retry.',
  security: SESSION,
  form: formOf({ ...CSRF_TOKEN, client_id: 'The application.' }),
  responses: { 200: continues(TO_LIST), ...formErrors() },
};

export const CONFIRM_REVOKE_ALL_OPERATION: OperationDescription = {
  id: 'confirmRevokeAll',
  tag: 'Pages',
  summary: 'Confirms the revocation of every application',
  security: SESSION,
  responses: { 200: page('The confirmation page.'), 303: seeOther(TO_LIST), ...errorPages() },
};

export const REVOKE_ALL_OPERATION: OperationDescription = {
  id: 'revokeAllApps',
  tag: 'Pages',
  summary: 'Revokes the access of every application',
  description: '503 if the revocation is recorded but not yet complete; retry.',
  security: SESSION,
  form: formOf(CSRF_TOKEN),
  responses: { 200: continues(TO_LIST), ...formErrors() },
};
