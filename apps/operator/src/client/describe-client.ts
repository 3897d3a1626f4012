import type { Client } from '#directory/client.js';

/** A client as the operator sees it: never a secret nor its hash. */
export function describeClient({
  clientId,
  name,
  type,
  redirectUris,
  scopes,
  requirePar,
  secrets,
  createdAt,
}: Client) {
  return {
    client_id: clientId,
    name,
    type,
    redirect_uris: redirectUris,
    scopes,
    require_par: requirePar,
    live_secrets: secrets.length,
    created_at: createdAt.toISOString(),
  };
}
