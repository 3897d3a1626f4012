import { json, type OperationDescription, PUSHED_PARAMETERS } from '#openapi/operation.js';
import { DPOP_NONCE, oauthErrors } from '#openapi/oauth-errors.js';
import { ApiProperty } from '#openapi/schema.js';

export class ParResponse {
  @ApiProperty({
    description: 'Send the browser to the authorization endpoint with this and `client_id` only.',
  })
  readonly request_uri: string;

  @ApiProperty({ type: 'integer', minimum: 1, description: 'Seconds in which the browser must open it.' })
  readonly expires_in: number;
}

export const PAR_OPERATION: OperationDescription = {
  id: 'pushAuthorizationRequest',
  tag: 'Authorization',
  summary: 'Stores an authorization request',
  description:
    'RFC 9126. Takes the parameters of the authorization endpoint except `request_uri`. The browser then carries only a reference to the request.',
  security: [{ basic: [] }, {}],
  parameters: {
    DPoP: {
      in: 'header',
      description: 'Proof of a key; counts as `dpop_jkt` (RFC 9449 10.1).',
      schema: { type: 'string' },
    },
  },
  form: PUSHED_PARAMETERS,
  responses: {
    201: {
      description: 'The request is stored.',
      headers: { 'DPoP-Nonce': DPOP_NONCE },
      content: json(ParResponse, {
        pushed: { request_uri: 'urn:ietf:params:oauth:request_uri:8Jp4…', expires_in: 300 },
      }),
    },
    ...oauthErrors(
      {
        400: [
          'invalid_request',
          'unauthorized_client',
          'request_not_supported',
          'unsupported_response_type',
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
