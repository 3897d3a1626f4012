import type { Client } from '#database/client/client.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { LIMITS } from '#oauth/authorization/limits.js';
import type { RequestParameters } from '#oauth/authorization/request-parameters.js';

/** The client_id of a request. @throws OAuthError that is not redirected, as `checkClient` */
export function clientIdOf(parameters: RequestParameters): string {
  const clientId = parameters.get('client_id', LIMITS.client_id);
  if (clientId !== undefined) return clientId;
  throw OAuthError.invalidRequest("the parameter 'client_id' is missing", { detail: { check: 'client' } });
}

/**
 * RFC 6749 4.1.2.1: "if the client identifier is missing or invalid, the authorization server SHOULD inform the
 * resource owner of the error and MUST NOT automatically redirect the user-agent".
 */
export function checkClient(clientId: string, client: Client | null): Client {
  if (client) return client;
  throw OAuthError.invalidRequest('no application is registered under this client_id', {
    detail: { check: 'client', client_id: clientId },
  });
}
