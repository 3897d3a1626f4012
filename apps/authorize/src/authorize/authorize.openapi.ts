import { AUTHORIZATION_QUERY, type OperationDescription } from '#openapi/operation.js';
import { DECISION_FORM } from '../consent/consent.openapi.js';
import { errorPages, page, ReceivesForm, seeOther } from '../ui/page.openapi.js';

const TO_APPLICATION =
  'To `redirect_uri`: with `code`, `state` and `iss` (RFC 6749 4.1.2, RFC 9207); or with `error`, `error_description`, `error_uri`, `state` and `iss`, where `error` is `invalid_request`, `unsupported_response_type`, `invalid_scope`, `invalid_target`, `access_denied`, `login_required` or `consent_required` (4.1.2.1). Or to the login page, which returns here.';

const CONSENT =
  'The consent page. With `response_mode=form_post`, or a page whose form posts the response to `redirect_uri`.';

export const AUTHORIZE_OPERATION: OperationDescription = {
  id: 'authorize',
  tag: 'Authorization',
  summary: 'Asks the user to authorize an application',
  description:
    'RFC 6749 4.1.1. Send the browser here. Required are `client_id`, `redirect_uri` and `state`; or `client_id` and `request_uri`. An unknown client and an unregistered `redirect_uri` get an error page, never a redirect.',
  parameters: AUTHORIZATION_QUERY,
  responses: { 200: page(CONSENT), 303: seeOther(TO_APPLICATION), ...errorPages(400, 403) },
};

export const DecideOperation = ReceivesForm({
  id: 'decide',
  summary: 'Submits the consent page',
  description:
    'Takes the query of the authorization request. A form without `csrf_token` is an authorization request (OpenID Connect Core 3.1.2.1), which continues at the same path with GET.',
  parameters: AUTHORIZATION_QUERY,
  form: { ...DECISION_FORM, required: [] },
  continuesTo: `${TO_APPLICATION} ${CONSENT}`,
});
