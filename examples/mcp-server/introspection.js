// Validates access tokens by introspection (RFC 7662).
import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server';

/**
 * @param endpoint URL of the introspection endpoint
 * @param id, secret credentials of this server, from `operator resource-server create`
 * @param audience origin of this server
 * @returns a verifier for `requireBearerAuth`
 */
export function introspection({ endpoint, id, secret, audience }) {
  const credentials = Buffer.from(`${id}:${secret}`).toString('base64');
  return {
    async verifyAccessToken(token) {
      const response = await fetch(endpoint, {
        method: 'POST',
        headers: { Authorization: `Basic ${credentials}` },
        body: new URLSearchParams({ token }),
        signal: AbortSignal.timeout(2000),
      });
      // Causes a 500 response: a token that cannot be checked is never accepted.
      if (!response.ok) throw new Error(`the introspection endpoint answered ${response.status}`);
      const found = await response.json();
      // Rejects a token for another server or for all servers (RFC 8707), and a token bound to a key (RFC 9449).
      if (found.active !== true || found.cnf || !found.aud?.includes(audience))
        throw new OAuthError(OAuthErrorCode.InvalidToken, 'The access token is not valid for this server');
      return {
        token,
        clientId: found.client_id,
        scopes: found.scope.split(' '),
        expiresAt: found.exp,
        extra: { userId: found.sub },
      };
    },
  };
}
