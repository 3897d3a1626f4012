import * as openid from 'openid-client';
import { ClientStore } from '#clients/client.store.js';
import { type RunningProduct, startProduct, withStores } from '../end-to-end/running-product.js';
import { Browser } from '../support/browser.js';

let product: RunningProduct;
let clientId: string;

beforeAll(async () => {
  product = await startProduct();
  ({ clientId } = await withStores(product.databaseUrl, (stores) =>
    stores.get(ClientStore).create({
      name: 'Room display',
      type: 'public',
      scopes: ['profile:read', 'openid'],
      redirectUris: [],
      rules: { deviceGrant: true },
    }),
  ));
});

afterAll(() => product.close());

async function decide(link: string, decision: 'allow' | 'deny'): Promise<void> {
  const { email, password } = product.run.user;
  const phone = new Browser(product.run.auth_url);
  const login = await phone.open(link);
  const opened = await phone.follow(await phone.submit(login, { username: email, password }, '/auth/login'));
  const consent = await phone.submit(opened, {}, '/auth/device');
  expect((await phone.submit(consent, { decision }, '/auth/device/decision')).status).toBe(303);
}

describe('openid-client with a device (RFC 8628)', () => {
  const configured = () =>
    openid.discovery(new URL(product.run.base_url), clientId, {}, openid.None(), {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    });

  it.each(['without', 'with'])('gets tokens %s DPoP', async (dpop) => {
    const { run } = product;
    const configuration = await configured();
    const DPoP = openid.getDPoPHandle(configuration, await openid.randomDPoPKeyPair());
    const options = dpop === 'with' ? { DPoP } : {};
    const started = await openid.initiateDeviceAuthorization(configuration, { scope: 'openid profile:read' });
    const polling = openid.pollDeviceAuthorizationGrant(configuration, started, undefined, options);
    await decide(started.verification_uri_complete ?? '', 'allow');
    const tokens = await polling;
    expect(tokens).toMatchObject({
      token_type: dpop === 'with' ? 'dpop' : 'bearer',
      scope: 'openid profile:read',
    });
    expect(tokens.claims()).toMatchObject({ sub: expect.any(String), auth_time: expect.any(Number) });
    const refreshed = await openid.refreshTokenGrant(configuration, tokens.refresh_token ?? '', {}, options);
    const answer = await openid.fetchProtectedResource(
      configuration,
      refreshed.access_token,
      new URL(`${run.api_url}/v2/me`),
      'GET',
      null,
      new Headers(),
      options,
    );
    expect(await answer.json()).toMatchObject({ data: { email: run.user.email } });
  });

  it('reports that the user has denied access', async () => {
    const configuration = await configured();
    const started = await openid.initiateDeviceAuthorization(configuration, {});
    const polling = openid.pollDeviceAuthorizationGrant(configuration, started);
    const refused = expect(polling).rejects.toMatchObject({ error: 'access_denied' });
    await decide(started.verification_uri_complete ?? '', 'deny');
    await refused;
  });
});
