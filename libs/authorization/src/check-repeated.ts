import { OAuthError } from '#service/oauth/oauth-error.js';
import type { RequestParameters } from './request-parameters.js';

/** RFC 6749 3.1: "Request and response parameters MUST NOT be included more than once." */
export function checkRepeated({ repeated: [name] }: RequestParameters): void {
  if (name === undefined) return;
  // Only what may stand in an error_description (RFC 6749 4.1.2.1), and not too much of it.
  const printable = name.replaceAll(/[^\w.-]/g, '?').slice(0, 40);
  throw OAuthError.invalidRequest(`the parameter '${printable}' is repeated`, {
    detail: { check: 'repeated', parameter: printable },
  });
}
