import { DECISION_FORM } from '../consent/consent.openapi.js';
import { ReceivesForm, ShowsPage } from '../ui/page.openapi.js';

export const DeviceOperation = ShowsPage({
  id: 'device',
  summary: 'Asks for the code of a device',
  description: 'RFC 8628 3.3. With `user_code`, the user compares the code with the device.',
  parameters: { user_code: { in: 'query', description: 'The code of `verification_uri_complete`.' } },
  shows: 'The page.',
});

export const DeviceCodeOperation = ReceivesForm({
  id: 'submitDeviceCode',
  summary: 'Submits the code of a device',
  description: '400 for a wrong code, 429 after too many.',
  fields: { user_code: 'The code; case, spaces and hyphens do not matter.' },
  shows: 'The consent page; or a page that continues at the login page, if no user is logged in.',
});

export const DeviceDecisionOperation = ReceivesForm({
  id: 'decideDevice',
  summary: 'Submits the consent page of a device',
  parameters: { user_code: { in: 'query', required: true, description: 'The code.' } },
  form: DECISION_FORM,
  continuesTo:
    'To a page that confirms the decision, or to the login page if no user is logged in. Or the consent page again, because the required scopes have changed.',
});
