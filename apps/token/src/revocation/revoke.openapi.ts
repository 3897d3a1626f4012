import { oauthErrors } from '#openapi/oauth-errors.js';
import { json, type OperationDescription } from '#openapi/operation.js';

export const REVOKE_OPERATION: OperationDescription = {
  id: 'revoke',
  tag: 'Tokens',
  summary: 'Revokes a grant with all its tokens',
  description: 'RFC 7009. Any token of a grant revokes the grant. An unknown token gets the same response.',
  security: [{ basic: [] }, {}],
  responses: {
    200: {
      description: 'The token is no longer valid.',
      content: json({ type: 'object', properties: {} }, { revoked: {} }),
    },
    ...oauthErrors({ 400: ['invalid_request', 'invalid_grant'], 401: ['invalid_client'] }),
  },
};
