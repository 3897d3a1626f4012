import type { OAuthErrorCode } from '#oauth/reasons.js';
import { DPOP_NONCE, oauthErrors } from '#openapi/oauth-errors.js';
import {
  json,
  type OperationDescription,
  type ParameterDescription,
  type ResponseDescription,
} from '#openapi/operation.js';
import { TokenResponse } from './token.dto.js';

const DPOP_PROOF: ParameterDescription = {
  in: 'header',
  description: 'Proof of the key that the tokens will be bound to (RFC 9449 4.2).',
  schema: { type: 'string' },
};

const ERRORS: readonly OAuthErrorCode[] = [
  'invalid_request',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'invalid_target',
  'invalid_dpop_proof',
  'use_dpop_nonce',
  'authorization_pending',
  'slow_down',
  'access_denied',
  'expired_token',
];

const PAIR = {
  access_token: 'sat_AQ3xQ2…',
  refresh_token: 'srt_AQ3xQ2…',
  token_type: 'Bearer',
  expires_in: 1800,
  scope: 'profile:read',
};

const REFUSALS = oauthErrors({ 400: ERRORS, 401: ['invalid_client'] }, { 'DPoP-Nonce': DPOP_NONCE });

const RESPONSES: OperationDescription['responses'] = {
  ...REFUSALS,
  200: {
    name: 'Tokens',
    description: 'New tokens.',
    headers: { 'DPoP-Nonce': DPOP_NONCE },
    content: json(TokenResponse, { bearer: PAIR, bound: { ...PAIR, token_type: 'DPoP' } }),
  },
  400: { ...(REFUSALS[400] as ResponseDescription), name: 'TokenError' },
};

export const TOKEN_OPERATION: OperationDescription = {
  id: 'token',
  tag: 'Tokens',
  summary: 'Exchanges a code for tokens, or refreshes them',
  description:
    'RFC 6749 4.1.3, 4.4 and 6, RFC 8628 3.4. A refresh replaces the refresh token: a retry with the old one within 30 s gets the same new tokens, any later use revokes the grant. A code that is used twice revokes its grant. `client_credentials` is only for API clients of the operator and for event streams.',
  security: [{ basic: [] }, {}],
  parameters: { DPoP: DPOP_PROOF },
  responses: RESPONSES,
};

export const REFRESH_OPERATION: OperationDescription = {
  id: 'refreshToken',
  tag: 'Tokens',
  summary: 'Refreshes tokens',
  description:
    'Takes the refresh token as Bearer, with the client credentials in the body; or in the body, with the credentials there or by HTTP Basic; not both.',
  security: [{ refreshToken: [] }, { basic: [] }, {}],
  parameters: { DPoP: DPOP_PROOF },
  responses: RESPONSES,
};
