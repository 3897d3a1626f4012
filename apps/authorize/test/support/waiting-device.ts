import type { Client } from '#clients/client.js';
import { GrantStore } from '#grants/grant.store.js';
import { KeyRing } from '#keys/key-ring.js';
import { DEFAULT_LIFETIMES } from '#grants/lifetimes.js';
import { TokenCodec } from '#grants/token-codec.js';
import { TokenIssuer } from '#grants/token-issuer.js';
import { UserCodeStore } from '#grants/user-code.store.js';
import { displayedUserCode } from '#oauth/device-authorization.js';
import type { AuthorizeApp } from './start-authorize-app.js';

export interface WaitingDevice {
  readonly userCode: string;
  readonly grantId: string;
}

/** Creates a pending device request as the token app does (RFC 8628 3.2). */
export async function waitingDevice(
  { configuration, redis }: Pick<AuthorizeApp, 'configuration' | 'redis'>,
  { clientId }: Client,
  scope = 'profile:read bookings:read',
): Promise<WaitingDevice> {
  const keys = KeyRing.parse(configuration.TOKEN_KEYS);
  const { grantId } = new TokenIssuer(new TokenCodec(keys), DEFAULT_LIFETIMES).deviceCode(Date.now());
  const request = { grantId, clientId, scope, resources: null, address: '192.0.2.7' };
  const created = await new UserCodeStore(redis, keys).create(request, 'confidential');
  if (created.outcome !== 'created') throw new Error(created.counter);
  await new GrantStore(redis).request(grantId, clientId, null, 900);
  return { userCode: displayedUserCode(created.userCode), grantId };
}
