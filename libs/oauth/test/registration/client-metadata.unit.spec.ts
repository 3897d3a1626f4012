import { checkGrantType } from '#oauth/oauth-client.js';
import type { GrantType } from '#oauth/client-credentials.js';
import { DEVICE_CODE } from '#oauth/device-authorization.js';

const check = (requested: string, grantType: GrantType, deviceGrant: boolean) => () =>
  checkGrantType(
    { grant_type: requested },
    { clientId: 'sc_a', type: 'confidential', grantType, deviceGrant },
  );

describe('the grant type of a token request', () => {
  it.each<[string, GrantType, boolean]>([
    ['authorization_code', 'authorization_code', false],
    ['refresh_token', 'authorization_code', false],
    [DEVICE_CODE, 'authorization_code', true],
    ['client_credentials', 'client_credentials', false],
  ])('may be %s if the client has grantType %s and deviceGrant %j', (requested, grantType, deviceGrant) => {
    expect(check(requested, grantType, deviceGrant)).not.toThrow();
  });

  // @rfc 6749 5.2
  it.each<[string, GrantType, string]>([
    [DEVICE_CODE, 'authorization_code', 'device_code'],
    ['client_credentials', 'authorization_code', 'client_credentials'],
    ['authorization_code', 'client_credentials', 'authorization_code'],
    ['refresh_token', 'client_credentials', 'authorization_code'],
    [DEVICE_CODE, 'client_credentials', 'device_code'],
  ])('cannot be %s if the client has grantType %s and no device grant', (requested, grantType, expected) => {
    expect(check(requested, grantType, false)).toThrow(
      expect.objectContaining({
        code: 'unauthorized_client',
        status: 400,
        reason: `grant_type_unregistered.${expected}`,
        detail: { check: 'grant_type_unregistered', client_id: 'sc_a' },
      }),
    );
  });
});
