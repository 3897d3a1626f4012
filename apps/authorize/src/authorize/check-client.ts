import type { ClientStore } from '#directory/client.store.js';
import type { Client } from '#directory/client.js';
import { OAuthError } from '#service/oauth/oauth-error.js';
import { LIMITS } from '#authorization/limits.js';
import type { RequestParameters } from '#authorization/request-parameters.js';

/**
 * RFC 6749 4.1.2.1: "if the client identifier is missing or invalid, the authorization server SHOULD inform the
 * resource owner of the error and MUST NOT automatically redirect the user-agent".
 */
export async function checkClient(parameters: RequestParameters, clients: ClientStore): Promise<Client> {
  const clientId = parameters.get('client_id', LIMITS.client_id);
  if (clientId === undefined)
    throw OAuthError.invalidRequest("the parameter 'client_id' is missing", {
      detail: { check: 'client' },
    });
  const client = await clients.find(clientId);
  if (!client)
    throw OAuthError.invalidRequest('no application is registered under this client_id', {
      detail: { check: 'client', client_id: clientId },
    });
  return client;
}
