import { DPOP_NONCE, oauthErrors } from '#openapi/oauth-errors.js';
import { json, type OperationDescription } from '#openapi/operation.js';
import { DeviceAuthorizationResponse } from './device-authorization.dto.js';

export const DEVICE_OPERATION: OperationDescription = {
  id: 'authorizeDevice',
  tag: 'Authorization',
  summary: 'Starts the authorization of a device',
  description:
    'RFC 8628 3.1, for clients that are registered for it. The device shows the code and the address of the page, and polls the token endpoint.',
  security: [{ basic: [] }, {}],
  parameters: {
    DPoP: {
      in: 'header',
      description: 'Proof of the key that each poll must prove (RFC 9449 4.2).',
      schema: { type: 'string' },
    },
  },
  responses: {
    200: {
      description: 'The codes.',
      headers: { 'DPoP-Nonce': DPOP_NONCE },
      content: json(DeviceAuthorizationResponse, {
        codes: {
          device_code: 'sdc_AQ3xQ2…',
          user_code: 'WDJB-MJHT',
          verification_uri: 'https://scheduling.example/auth/device',
          verification_uri_complete: 'https://scheduling.example/auth/device?user_code=WDJB-MJHT',
          expires_in: 900,
          interval: 5,
        },
      }),
    },
    ...oauthErrors(
      {
        400: [
          'invalid_request',
          'unauthorized_client',
          'invalid_scope',
          'invalid_target',
          'invalid_dpop_proof',
          'use_dpop_nonce',
        ],
        401: ['invalid_client'],
      },
      { 'DPoP-Nonce': DPOP_NONCE },
    ),
  },
};
