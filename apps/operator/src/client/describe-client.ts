import type { ClientWithSecrets } from '#database/client/client.js';

/** A client as the operator sees it: never a secret nor its hash. */
export function describeClient(client: ClientWithSecrets) {
  const { clientId, name, type, redirectUris, scopes, optionalScopes, requirePar, firstParty } = client;
  const { logo, secrets, createdAt } = client;
  return {
    client_id: clientId,
    name,
    type,
    redirect_uris: redirectUris,
    scopes,
    optional_scopes: optionalScopes,
    require_par: requirePar,
    first_party: firstParty,
    logo,
    live_secrets: secrets.length,
    created_at: createdAt.toISOString(),
  };
}

/** Its fields as people read them. */
export function asText(
  described: Readonly<Record<string, string | number | boolean | null | readonly string[]>>,
): Record<string, string> {
  const words = (value: (typeof described)[string]): string => {
    if (typeof value === 'boolean') return value ? 'yes' : 'no';
    if (Array.isArray(value)) return value.join(' ') || 'none';
    return String(value ?? 'none');
  };
  return Object.fromEntries(Object.entries(described).map(([name, value]) => [name, words(value)]));
}
