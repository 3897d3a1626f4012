import { DEVICE_CODE } from '#oauth/device-authorization.js';
import type { ClientRegistration } from '../client-registration.store.js';

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
