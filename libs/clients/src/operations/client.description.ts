import { describeFlags } from '../client-flags.js';
import { changesBetween } from '#audit/changes.js';
import type { AuditRecord } from '#audit/event.js';
import type { ClientRegistration, RegistrationUpdate } from '../client-registration.store.js';
import type { ClientWithSecrets } from '../client.js';
import type { TransferredClient } from '../client-transfer.store.js';
import { DEVICE_CODE } from '#oauth/device-authorization.js';
import { describeKeys, hasKeys } from '#oauth/oauth-client.js';
import { algorithmOf, subjectTypeOf } from '../registration/openid-registration.js';

export type ClientView = ReturnType<typeof clientView>;

export function clientView(client: ClientWithSecrets) {
  return {
    ...describeRegistration(client),
    disabled_at: client.disabledAt?.toISOString() ?? null,
    ...(client.stage === 'testing' && { stage: client.stage }),
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

/** Fields of a view that are not part of the registration. */
const STATE: ReadonlySet<string> = new Set([
  'client_id',
  'created_at',
  'disabled_at',
  'jwks',
  'document_due_at',
  'document_problem',
  'live_secrets',
  'version',
]);

/** Describes a registration for the audit trail: keys by their thumbprints, the logo by its digest. */
export function recordedRegistration(client: ClientWithSecrets): Readonly<Record<string, unknown>> {
  const described = { ...clientView(client), ...(client.sector !== null && { sector: client.sector }) };
  return Object.fromEntries(Object.entries(described).filter(([name]) => !STATE.has(name)));
}

/**
 * Describes a change of the registration for the audit trail.
 * @param client current, which may contain a later change
 */
export function updateEvent(
  client: ClientWithSecrets,
  { before, after }: RegistrationUpdate,
): AuditRecord & { readonly client_id: string } {
  const recorded = (registration: RegistrationUpdate['before']) =>
    recordedRegistration({ ...client, ...registration });
  return {
    type: 'client.updated',
    client_id: client.clientId,
    ...changesBetween(recorded(before), recorded(after)),
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
    ...describeFlags(client),
    id_token_alg: algorithmOf(client),
    subject: subjectTypeOf(client),
    post_logout_redirect_uris: client.postLogoutRedirectUris,
    backchannel_logout_uri: client.backchannelLogoutUri,
    client_uri: client.clientUri,
    policy_uri: client.policyUri,
    contacts: client.contacts,
  };
}

type Grants = Pick<ClientRegistration, 'grantType' | 'deviceGrant'>;

/** Returns `grant_types` (RFC 7591 2), or an empty object for a client that uses only authorization codes. */
export function describeGrantTypes({
  grantType,
  deviceGrant,
  redirectUris,
}: Grants & Pick<ClientRegistration, 'redirectUris'>): { grant_types?: string[] } {
  if (deviceGrant) return { grant_types: [...(redirectUris.length > 0 ? [grantType] : []), DEVICE_CODE] };
  return grantType === 'authorization_code' ? {} : { grant_types: [grantType] };
}
