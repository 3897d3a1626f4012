import { type ClientView, isApiClient } from '#clients/operations/client.description.js';
import { DEVICE_CODE } from '#oauth/device-authorization.js';

/**
 * Returns every member of an application under the name that a request has, so that a program can send back what it
 * has read. A view omits members with their default.
 */
export function clientResource({ grant_types: types = [], ...client }: ClientView) {
  return {
    profile: null,
    dpop_bound_access_tokens: false,
    refresh_token_rotation: true,
    keys: [],
    jwks_uri: null,
    document_due_at: null,
    document_problem: null,
    ...client,
    grant_type: isApiClient({ grant_types: types }) ? 'client_credentials' : 'authorization_code',
    device_grant: types.includes(DEVICE_CODE),
  };
}
