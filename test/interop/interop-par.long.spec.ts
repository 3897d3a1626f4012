import * as openid from 'openid-client';
import { allow } from '../end-to-end/use-product.js';
import { type RunningProduct, startProduct } from '../end-to-end/running-product.js';

let product: RunningProduct;

beforeAll(async () => {
  product = await startProduct();
});

afterAll(() => product.close());

async function configured(
  authentication: (secret: string) => openid.ClientAuth,
): Promise<openid.Configuration> {
  const { base_url, client } = product.run;
  return openid.discovery(new URL(base_url), client.client_id, {}, authentication(client.client_secret), {
    algorithm: 'oauth2',
    execute: [openid.allowInsecureRequests],
  });
}

describe('openid-client with pushed requests (RFC 9126)', () => {
  it.each([
    ['client_secret_post', openid.ClientSecretPost],
    ['client_secret_basic', openid.ClientSecretBasic],
  ])('pushes requests with %s and PKCE to the endpoint in the metadata', async (_method, authentication) => {
    const { run } = product;
    const configuration = await configured(authentication);
    const verifier = openid.randomPKCECodeVerifier();
    const state = openid.randomState();
    const url = await openid.buildAuthorizationUrlWithPAR(configuration, {
      redirect_uri: run.client.redirect_uri,
      scope: 'profile:read',
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
    });
    expect([...url.searchParams.keys()].sort()).toEqual(['client_id', 'request_uri']);
    const callback = await allow(run, url);
    const tokens = await openid.authorizationCodeGrant(configuration, callback, {
      pkceCodeVerifier: verifier,
      expectedState: state,
    });
    const me = await fetch(`${run.api_url}/v2/me`, {
      headers: { Authorization: `Bearer ${tokens.access_token}` },
    });
    expect(await me.json()).toMatchObject({ data: { email: run.user.email } });
    // A pushed request can be used once.
    expect((await fetch(url, { redirect: 'manual' })).status).toBe(400);
  });

  it('reports why a pushed request was rejected', async () => {
    const configuration = await configured(openid.ClientSecretPost);
    const refused = openid.buildAuthorizationUrlWithPAR(configuration, {
      redirect_uri: 'https://evil.example/callback',
      state: openid.randomState(),
    });
    await expect(refused).rejects.toMatchObject({ error: 'invalid_request', status: 400 });
  });
});
