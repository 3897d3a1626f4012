import type { HeaderDescription } from './operation.js';

export const RETRY_AFTER: HeaderDescription = {
  description: 'Seconds to wait before the next attempt.',
  required: true,
  schema: { type: 'integer', minimum: 0 },
};

/** Accept-Encoding header of a 415 response (RFC 9110 12.5.3). */
export const ACCEPT_ENCODING: HeaderDescription = {
  description: '`identity`, if the body had a content coding.',
};

/** DPoP-Nonce header (RFC 9449 8.2). */
export const DPOP_NONCE: HeaderDescription = {
  description: 'Nonce for the next proof, if this server requires nonces and the request has a proof.',
};
