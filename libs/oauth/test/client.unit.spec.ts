import { checkGrantType } from '#oauth/oauth-client.js';
import type { GrantType } from '#oauth/client-credentials.js';
import { DEVICE_CODE } from '#oauth/device-authorization.js';

const check = (requested: string, grantType: GrantType, deviceGrant: boolean) => () =>
  checkGrantType(requested, { clientId: 'sc_a', grantType, deviceGrant });

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
  it.each<[string, GrantType, RegExp]>([
    [DEVICE_CODE, 'authorization_code', /has not registered this client for devices/],
    ['client_credentials', 'authorization_code', /has not registered this client for client_credentials/],
    ['authorization_code', 'client_credentials', /client_credentials only/],
    ['refresh_token', 'client_credentials', /client_credentials only/],
    [DEVICE_CODE, 'client_credentials', /has not registered this client for devices/],
  ])(
    'cannot be %s if the client has grantType %s and no device grant',
    (requested, grantType, description) => {
      expect(check(requested, grantType, false)).toThrow(
        expect.objectContaining({
          code: 'unauthorized_client',
          status: 400,
          description: expect.stringMatching(description),
          detail: { check: 'grant_type_unregistered', client_id: 'sc_a' },
        }),
      );
    },
  );
});
