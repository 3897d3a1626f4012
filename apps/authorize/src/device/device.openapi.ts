import type { OperationDescription } from '#openapi/operation.js';
import { DECISION_FORM } from '../consent/consent.openapi.js';
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

export const DEVICE_OPERATION: OperationDescription = {
  id: 'device',
  tag: 'Pages',
  summary: 'Asks for the code of a device',
  description: 'RFC 8628 3.3. With `user_code`, the user compares the code with the device.',
  security: SESSION,
  parameters: { user_code: { in: 'query', description: 'The code of `verification_uri_complete`.' } },
  responses: {
    200: page('The page.'),
    303: seeOther('To the login page, if no user is logged in.'),
    ...errorPages(),
  },
};

export const DEVICE_CODE_OPERATION: OperationDescription = {
  id: 'submitDeviceCode',
  tag: 'Pages',
  summary: 'Submits the code of a device',
  description: '400 for a wrong code, 429 after too many.',
  security: SESSION,
  form: formOf({ ...CSRF_TOKEN, user_code: 'The code; case, spaces and hyphens do not matter.' }),
  responses: {
    200: page('The consent page; or a page that continues at the login page, if no user is logged in.'),
    ...formErrors(),
  },
};

export const DEVICE_DECISION_OPERATION: OperationDescription = {
  id: 'decideDevice',
  tag: 'Pages',
  summary: 'Submits the consent page of a device',
  security: SESSION,
  parameters: { user_code: { in: 'query', required: true, description: 'The code.' } },
  form: DECISION_FORM,
  responses: {
    200: continues(
      'To a page that confirms the decision, or to the login page if no user is logged in. Or the consent page again, because the required scopes have changed.',
    ),
    ...formErrors(),
  },
};
