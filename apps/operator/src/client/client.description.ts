import type { ClientWithSecrets } from '#database/client/client.js';

/** Client for output: no secrets, and no hashes of secrets. */
export function describe(client: ClientWithSecrets) {
  return {
    client_id: client.clientId,
    name: client.name,
    type: client.type,
    redirect_uris: client.redirectUris,
    scopes: client.scopes,
    optional_scopes: client.optionalScopes,
    require_par: client.requirePar,
    require_state: client.requireState,
    first_party: client.firstParty,
    post_logout_redirect_uris: client.postLogoutRedirectUris,
    backchannel_logout_uri: client.backchannelLogoutUri,
    client_uri: client.clientUri,
    policy_uri: client.policyUri,
    contacts: client.contacts,
    disabled_at: client.disabledAt?.toISOString() ?? null,
    logo: client.logo,
    live_secrets: client.secrets.length,
    created_at: client.createdAt.toISOString(),
  };
}

export function asText(described: ReturnType<typeof describe>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(described).map(([name, value]) => {
      if (typeof value === 'boolean') return [name, value ? 'yes' : 'no'];
      if (Array.isArray(value)) return [name, value.join(' ') || 'none'];
      return [name, String(value ?? 'none')];
    }),
  );
}
