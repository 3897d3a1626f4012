import { hasKeys } from '#oauth/oauth-client.js';
import type { NewClient } from '../client.store.js';
import { type Registration, storedRegistration } from './registration.js';

/** @param registration without a problem */
export function newClientOf(registration: Registration): Omit<NewClient, 'secretHash'> {
  const { clientUri, policyUri, contacts, jwks, jwksUri, ...stored } = storedRegistration(registration);
  const { postLogoutRedirectUris, backchannelLogoutUri, ...others } = stored;
  const { grantType, deviceGrant, dpopBound, keepsRefreshToken, profile, ...client } = others;
  return {
    ...client,
    type: registration.type,
    links: { clientUri, policyUri, contacts },
    logoutUris: { postLogoutRedirectUris, backchannelLogoutUri },
    rules: { grantType, deviceGrant, dpopBound, keepsRefreshToken, profile },
    ...(hasKeys({ jwks, jwksUri }) && { keys: { jwks, jwksUri } }),
  };
}
