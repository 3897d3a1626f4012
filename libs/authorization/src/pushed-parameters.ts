import { LIMITS } from './limits.js';
import type { RequestParameters } from './request-parameters.js';

/**
 * The parameters of a request that passed the checks, as the query string it could have come in. Only the
 * parameters of an authorization request are kept: neither a client secret nor anything unbounded is.
 *
 * @param clientId of the client that authenticated, which the body need not name (HTTP Basic)
 */
export function pushedParameters(parameters: RequestParameters, clientId: string): string {
  const kept = new URLSearchParams();
  for (const [name, max] of Object.entries(LIMITS)) {
    const value = name === 'client_id' ? clientId : parameters.get(name, max);
    if (value !== undefined) kept.set(name, value);
  }
  return kept.toString();
}
