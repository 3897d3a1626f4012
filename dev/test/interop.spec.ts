import { randomBytes } from 'node:crypto';
import * as openid from 'openid-client';
import { AuthorizationCode } from 'simple-oauth2';
import { allow } from './allow.js';
import { type RunningProduct, startProduct } from './running-product.js';

let product: RunningProduct;

beforeAll(async () => {
  product = await startProduct();
}, 60_000);

afterAll(() => product.close());

async function me(accessToken: string): Promise<unknown> {
  const answer = await fetch(`${product.run.api_url}/v2/me`, {
    headers: { Authorization: `Bearer ${accessToken}` },
  });
  return ((await answer.json()) as { data?: { email?: string } }).data?.email;
}

describe('off-the-shelf OAuth clients complete the flow unmodified', () => {
  it.each([
    ['client_secret_post', openid.ClientSecretPost],
    ['client_secret_basic', openid.ClientSecretBasic],
  ])('openid-client with %s and PKCE', async (_method, authentication) => {
    const { run } = product;
    const configuration = new openid.Configuration(
      {
        issuer: run.base_url,
        authorization_endpoint: `${run.auth_url}/auth/oauth2/authorize`,
        token_endpoint: `${run.base_url}/api/auth/oauth/token`,
        authorization_response_iss_parameter_supported: true,
      },
      run.client.client_id,
      {},
      authentication(run.client.client_secret),
    );
    openid.allowInsecureRequests(configuration);
    const verifier = openid.randomPKCECodeVerifier();
    const state = openid.randomState();
    const url = openid.buildAuthorizationUrl(configuration, {
      redirect_uri: run.client.redirect_uri,
      scope: 'profile:read',
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
    });
    const callback = await allow(run, url);
    const tokens = await openid.authorizationCodeGrant(configuration, callback, {
      pkceCodeVerifier: verifier,
      expectedState: state,
    });
    expect(await me(tokens.access_token)).toBe(run.user.email);
    expect(tokens.expiresIn()).toBeGreaterThan(1790);
    const renewed = await openid.refreshTokenGrant(configuration, tokens.refresh_token ?? '');
    expect(renewed.access_token).not.toBe(tokens.access_token);
    expect(await me(renewed.access_token)).toBe(run.user.email);
    // The library's own check of RFC 6749 5.2 errors: the code was used before.
    await expect(
      openid.authorizationCodeGrant(configuration, callback, {
        pkceCodeVerifier: verifier,
        expectedState: state,
      }),
    ).rejects.toMatchObject({
      error: 'invalid_grant',
      status: 400,
    });
  });

  it.each(['form', 'json'] as const)(
    'simple-oauth2 with a body of %s, and its refresh at refreshToken',
    async (bodyFormat) => {
      const { run } = product;
      const { client_id: id, client_secret: secret, redirect_uri } = run.client;
      const options = { bodyFormat, authorizationMethod: 'body' } as const;
      const auth = {
        tokenHost: run.base_url,
        tokenPath: '/api/auth/oauth/token',
        refreshPath: '/api/auth/oauth/refreshToken',
        authorizeHost: run.auth_url,
        authorizePath: '/auth/oauth2/authorize',
      };
      const client = new AuthorizationCode({ client: { id, secret }, auth, options });
      const state = randomBytes(16).toString('base64url');
      const callback = await allow(run, client.authorizeURL({ redirect_uri, state, scope: 'profile:read' }));
      expect(callback.searchParams.get('state')).toBe(state);
      const token = await client.getToken({ code: callback.searchParams.get('code') ?? '', redirect_uri });
      expect(await me(String(token.token['access_token']))).toBe(run.user.email);
      expect(token.expired()).toBe(false);
      const renewed = await token.refresh();
      expect(await me(String(renewed.token['access_token']))).toBe(run.user.email);
    },
  );
});
