import type { ClientRegistration } from '../client-registration.store.js';
import { ADMIN_SCOPES, isAdminScope } from '#oauth/client-credentials.js';
import { hasKeys } from '#oauth/oauth-client.js';
import { DEVICE_CODE } from '#oauth/device-authorization.js';
import { quoted } from '#operations/wording.js';

/** Problem of a field, with the name of the field in operations and in client files. */
interface GrantTypeProblem {
  readonly field: string;
  readonly inFile: string;
  readonly problem: string;
}

type Registration = Omit<ClientRegistration, 'name' | 'idTokenAlg' | 'clientUri' | 'policyUri' | 'contacts'>;

/** Fields that a client of `client_credentials` cannot have, because it has no users. */
const USER_FIELDS: readonly (readonly [keyof Registration, field: string, inFile: string])[] = [
  ['redirectUris', 'redirectUris', 'redirect_uris'],
  ['privateSchemes', 'privateSchemes', 'private_schemes'],
  ['postLogoutRedirectUris', 'postLogoutRedirectUris', 'post_logout_redirect_uris'],
  ['backchannelLogoutUri', 'backchannelLogoutUri', 'backchannel_logout_uri'],
  ['optionalScopes', 'optionalScopes', 'optional_scopes'],
  ['firstParty', 'firstParty', 'first_party'],
  ['requirePar', 'requirePar', 'require_par'],
  ['sector', 'subject', 'subject'],
  ['keepsRefreshToken', 'refreshTokenRotation', 'refresh_token_rotation'],
  ['profile', 'profile', 'profile'],
  ['deviceGrant', 'deviceGrant', 'grant_types'],
];

/** Returns `grant_types` (RFC 7591 2), or an empty object for a client that uses only authorization codes. */
export function describeGrantTypes({
  grantType,
  deviceGrant,
  redirectUris,
}: Pick<Registration, 'grantType' | 'deviceGrant' | 'redirectUris'>): { grant_types?: string[] } {
  if (deviceGrant) return { grant_types: [...(redirectUris.length > 0 ? [grantType] : []), DEVICE_CODE] };
  return grantType === 'authorization_code' ? {} : { grant_types: [grantType] };
}

/** Applies the constraints of the table `clients`, and rejects fields that would have no effect (RFC 6749 4.4). */
export function grantTypeProblems(client: Registration): GrantTypeProblem[] {
  const isApiClient = client.grantType === 'client_credentials';
  const scopes = client.scopes
    .filter((scope) => isAdminScope(scope) !== isApiClient)
    .map((scope) => ({
      field: 'scopes',
      inFile: 'scopes',
      problem: isApiClient
        ? `${quoted(scope)} is not a scope of the HTTP API: those are ${ADMIN_SCOPES.join(', ')}`
        : `${quoted(scope)} is only for clients of client_credentials`,
    }));
  if (client.deviceGrant && client.profile === 'fapi2')
    scopes.push({ field: 'deviceGrant', inFile: 'grant_types', problem: 'is not possible with fapi2' });
  if (!isApiClient) return scopes;
  const present = USER_FIELDS.filter(([name]) => {
    const value = client[name];
    return Array.isArray(value) ? value.length > 0 : value !== null && value !== false;
  });
  return [
    ...scopes,
    ...present.map(([, field, inFile]) => ({
      field,
      inFile,
      problem: 'is not possible with client_credentials: such a client has no users',
    })),
    ...(hasKeys(client)
      ? []
      : [
          {
            field: 'jwks',
            inFile: 'jwks',
            problem: 'is missing: a client of client_credentials has no secret',
          },
        ]),
  ];
}
