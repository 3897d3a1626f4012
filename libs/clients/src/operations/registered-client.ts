import type { ClientWithSecrets } from '../client.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { describeKeys, hasKeys } from '#oauth/oauth-client.js';
import { OPENID } from '#oauth/openid/openid-scopes.js';

export type RegisteredClient = ReturnType<typeof registeredView>;

interface Origins {
  readonly AUTH_URL: string;
  readonly BASE_URL: string;
  readonly CONSOLE_URL: string;
}

/**
 * Returns what the owner of a new client needs.
 * @param secret never stored; null for a public client or a client with keys
 */
export function registeredView(
  client: ClientWithSecrets,
  secret: string | null,
  { AUTH_URL, BASE_URL, CONSOLE_URL }: Origins,
) {
  const isApiClient = client.grantType === 'client_credentials';
  return {
    client_id: client.clientId,
    client_secret: secret,
    secret_id: client.secrets[0]?.id ?? null,
    ...(!isApiClient && { authorization_url: AUTH_URL + ENDPOINTS.authorize }),
    token_url: BASE_URL + ENDPOINTS.token,
    ...(!isApiClient && { refresh_url: BASE_URL + ENDPOINTS.refreshToken }),
    ...(isApiClient && { api_url: CONSOLE_URL + ENDPOINTS.admin }),
    ...(client.scopes.includes(OPENID) && { issuer: BASE_URL }),
    ...(client.requirePar && { par_url: BASE_URL + ENDPOINTS.par }),
    ...(client.deviceGrant && { device_authorization_url: BASE_URL + ENDPOINTS.deviceAuthorization }),
    ...(hasKeys(client) && {
      auth_method: 'private_key_jwt' as const,
      assertion_audience: BASE_URL,
      ...describeKeys(client),
    }),
  };
}
