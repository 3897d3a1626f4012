import { json, type OperationDescription } from '#openapi/operation.js';
import { OAuthErrorBody } from '#openapi/oauth-errors.js';
import { errorPages, formOf, page, seeOther } from '../ui/page.openapi.js';

export const LOGIN_RETURN_OPERATION: OperationDescription = {
  id: 'loginReturn',
  tag: 'Pages',
  summary: "Callback of the product's login",
  description:
    'The response of an OpenID provider (OpenID Connect Core 3.1.2.5, 3.1.2.6); or, for a login by signed JWT, a cancelled login (`error=access_denied` with `challenge`).',
  responses: {
    200: page('A page whose form posts the cancelled login to the application (`response_mode=form_post`).'),
    303: seeOther('To the next page, with the session.'),
    ...errorPages(400, 403),
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
