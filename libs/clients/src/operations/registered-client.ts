import type { ClientWithSecrets } from '../client.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { describeKeys, hasKeys } from '#oauth/oauth-client.js';
import { OPENID } from '#oauth/openid/openid-scopes.js';

export type RegisteredClient = ReturnType<typeof registeredView>;

interface Origins {
  readonly authUrl: string;
  readonly baseUrl: string;
  readonly consoleUrl: string;
}

/**
 * Returns what the owner of a new client needs.
 * @param secret never stored; null for a public client or a client with keys
 */
export function registeredView(
  client: ClientWithSecrets,
  secret: string | null,
  { authUrl, baseUrl, consoleUrl }: Origins,
) {
  const isApiClient = client.grantType === 'client_credentials';
  return {
    client_id: client.clientId,
    client_secret: secret,
    secret_id: client.secrets[0]?.id ?? null,
    ...(!isApiClient && { authorization_url: authUrl + ENDPOINTS.authorize }),
    token_url: baseUrl + ENDPOINTS.token,
    ...(!isApiClient && { refresh_url: baseUrl + ENDPOINTS.refreshToken }),
    ...(isApiClient && { api_url: consoleUrl + ENDPOINTS.admin }),
    ...(client.scopes.includes(OPENID) && { issuer: baseUrl }),
    ...(client.requirePar && { par_url: baseUrl + ENDPOINTS.par }),
    ...(client.deviceGrant && { device_authorization_url: baseUrl + ENDPOINTS.deviceAuthorization }),
    ...(hasKeys(client) && {
      auth_method: 'private_key_jwt' as const,
      assertion_audience: baseUrl,
      ...describeKeys(client),
    }),
  };
}
