import type { ClientWithSecrets } from '../client.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { describeKeys, hasKeys } from '#oauth/oauth-client.js';
import { OPENID } from '#oauth/openid/openid-scopes.js';

export interface RegisteredClient {
  readonly client_id: string;
  /** Null for a public client or a client with keys. Never stored. */
  readonly client_secret: string | null;
  readonly secret_id: string | null;
  /** `authorization_url` and `refresh_url` are absent for `client_credentials`. */
  readonly authorization_url?: string;
  readonly token_url: string;
  readonly refresh_url?: string;
  readonly api_url?: string;
  readonly issuer?: string;
  readonly par_url?: string;
  readonly device_authorization_url?: string;
  readonly auth_method?: 'private_key_jwt';
  readonly assertion_audience?: string;
  readonly keys?: string[];
  readonly jwks_uri?: string;
}

interface Origins {
  readonly AUTH_URL: string;
  readonly BASE_URL: string;
  readonly CONSOLE_URL: string;
}

/** Returns what the owner of a new client needs. */
export function registeredView(
  client: ClientWithSecrets,
  secret: string | null,
  { AUTH_URL, BASE_URL, CONSOLE_URL }: Origins,
): RegisteredClient {
  return {
    client_id: client.clientId,
    client_secret: secret,
    secret_id: client.secrets[0]?.id ?? null,
    ...(client.grantType === 'client_credentials'
      ? { token_url: BASE_URL + ENDPOINTS.token, api_url: CONSOLE_URL + ENDPOINTS.admin }
      : {
          authorization_url: AUTH_URL + ENDPOINTS.authorize,
          token_url: BASE_URL + ENDPOINTS.token,
          refresh_url: BASE_URL + ENDPOINTS.refreshToken,
        }),
    ...(client.scopes.includes(OPENID) && { issuer: BASE_URL }),
    ...(client.requirePar && { par_url: BASE_URL + ENDPOINTS.par }),
    ...(client.deviceGrant && { device_authorization_url: BASE_URL + ENDPOINTS.deviceAuthorization }),
    ...(hasKeys(client) && {
      auth_method: 'private_key_jwt',
      assertion_audience: BASE_URL,
      ...describeKeys(client),
    }),
  };
}
