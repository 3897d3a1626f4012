import type { ClientWithSecrets } from '#database/client/client.js';
import type { TransferredClient } from '#database/client/client-transfer.store.js';
import { type ClientKeys, hasKeys } from '#oauth/client.js';
import { thumbprintOf } from '#oauth/jwk.js';
import { describeGrantTypes } from './grant-type.js';
import { algorithmOf, subjectTypeOf } from './openid-registration.js';

export type ClientView = ReturnType<typeof clientView>;

export function clientView(client: ClientWithSecrets) {
  return {
    ...describeRegistration(client),
    disabled_at: client.disabledAt?.toISOString() ?? null,
    logo: client.logo,
    ...describeGrantTypes(client),
    auth_method: hasKeys(client) ? 'private_key_jwt' : client.type === 'public' ? 'none' : 'client_secret',
    live_secrets: client.secrets.length,
    ...describeKeys(client),
    jwks: client.jwks,
    ...(client.profile !== null && { profile: client.profile }),
    ...(client.dpopBound && { dpop_bound_access_tokens: true }),
    ...(client.document && {
      document_due_at: client.document.dueAt.toISOString(),
      document_problem: client.document.problem,
    }),
    ...(client.keepsRefreshToken && { refresh_token_rotation: false }),
    version: client.version,
    created_at: client.createdAt.toISOString(),
  };
}

/** Returns true for a client of the grant `client_credentials` (RFC 6749 4.4). */
export function isApiClient({ grant_types: types }: Pick<ClientView, 'grant_types'>): boolean {
  return types?.includes('client_credentials') ?? false;
}

export function describeRegistration(client: ClientWithSecrets | TransferredClient) {
  return {
    client_id: client.clientId,
    name: client.name,
    type: client.type,
    redirect_uris: client.redirectUris,
    private_schemes: client.privateSchemes,
    scopes: client.scopes,
    optional_scopes: client.optionalScopes,
    require_par: client.requirePar,
    require_state: client.requireState,
    first_party: client.firstParty,
    id_token_alg: algorithmOf(client),
    subject: subjectTypeOf(client),
    post_logout_redirect_uris: client.postLogoutRedirectUris,
    backchannel_logout_uri: client.backchannelLogoutUri,
    client_uri: client.clientUri,
    policy_uri: client.policyUri,
    contacts: client.contacts,
  };
}

/** Describes keys by their URL or by their thumbprints (RFC 7638); returns an empty object without keys. */
export function describeKeys({ jwks, jwksUri }: ClientKeys): { keys?: string[]; jwks_uri?: string } {
  if (jwksUri !== null) return { jwks_uri: jwksUri };
  if (jwks === null) return {};
  return {
    keys: jwks.keys.map((key) => `${key.kid === undefined ? '' : `${key.kid}=`}${thumbprintOf(key)}`),
  };
}
