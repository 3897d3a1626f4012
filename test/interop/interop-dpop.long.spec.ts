import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { allow } from '../end-to-end/use-product.js';
import { type RunningProduct, startProduct } from '../end-to-end/running-product.js';

describe.each(['optional', 'required'] as const)('DPoP (RFC 9449) with %s nonces', (DPOP_NONCE) => {
  let product: RunningProduct;

  beforeAll(async () => {
    product = await startProduct({ DPOP_NONCE });
  });

  afterAll(() => product.close());

  const meUrl = () => new URL(`${product.run.api_url}/v2/me`);

  it.each(['ES256', 'Ed25519', 'PS256'])('works in openid-client with %s keys', async (alg) => {
    const { run } = product;
    const configuration = await openid.discovery(
      new URL(run.base_url),
      run.client.client_id,
      {},
      openid.ClientSecretPost(run.client.client_secret),
      { algorithm: 'oauth2', execute: [openid.allowInsecureRequests] },
    );
    const DPoP = openid.getDPoPHandle(configuration, await openid.randomDPoPKeyPair(alg));
    const verifier = openid.randomPKCECodeVerifier();
    const state = openid.randomState();
    const url = openid.buildAuthorizationUrl(configuration, {
      redirect_uri: run.client.redirect_uri,
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      dpop_jkt: await DPoP.calculateThumbprint(),
      state,
    });
    const checks = { pkceCodeVerifier: verifier, expectedState: state };
    const callback = await allow(run, url);
    const tokens = await openid.authorizationCodeGrant(configuration, callback, checks, undefined, { DPoP });
    expect(tokens.token_type).toBe('dpop');
    const renewed = await openid.refreshTokenGrant(configuration, tokens.refresh_token ?? '', {}, { DPoP });
    for (const { access_token } of [tokens, renewed, renewed]) {
      const answer = await openid.fetchProtectedResource(
        configuration,
        access_token,
        meUrl(),
        'GET',
        null,
        new Headers(),
        { DPoP },
      );
      expect(await answer.json()).toMatchObject({ data: { email: run.user.email } });
    }
    // A thief has a different key.
    const thief = openid.getDPoPHandle(configuration, await openid.randomDPoPKeyPair(alg));
    const stolen = openid.refreshTokenGrant(configuration, renewed.refresh_token ?? '', {}, { DPoP: thief });
    await expect(stolen).rejects.toMatchObject({ error: 'invalid_grant' });
    const bearer = await fetch(meUrl(), { headers: { Authorization: `Bearer ${renewed.access_token}` } });
    expect(bearer.status).toBe(401);
  });

  it('works in oauth4webapi', async () => {
    const { run } = product;
    const issuer = new URL(run.base_url);
    const insecure = { [oauth.allowInsecureRequests]: true };
    const server = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
    );
    const client = { client_id: run.client.client_id };
    const authentication = oauth.ClientSecretBasic(run.client.client_secret);
    const DPoP = oauth.DPoP({}, await oauth.generateKeyPair('ES256'));
    const options = { DPoP, ...insecure };
    /** Retries once with the requested nonce, as the library's examples do. */
    const withNonce = async <T>(attempt: () => Promise<T>): Promise<T> => {
      try {
        return await attempt();
      } catch (error) {
        if (oauth.isDPoPNonceError(error)) return attempt();
        throw error;
      }
    };
    const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState()];
    const url = new URL(server.authorization_endpoint ?? '');
    url.search = new URLSearchParams({
      ...client,
      redirect_uri: run.client.redirect_uri,
      response_type: 'code',
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }).toString();
    const parameters = oauth.validateAuthResponse(server, client, await allow(run, url), state);
    const redirectUri = run.client.redirect_uri;
    const tokens = await withNonce(async () =>
      oauth.processAuthorizationCodeResponse(
        server,
        client,
        await oauth.authorizationCodeGrantRequest(
          server,
          client,
          authentication,
          parameters,
          redirectUri,
          verifier,
          options,
        ),
      ),
    );
    expect(tokens.token_type).toBe('dpop');
    const { access_token } = await withNonce(async () =>
      oauth.processRefreshTokenResponse(
        server,
        client,
        await oauth.refreshTokenGrantRequest(
          server,
          client,
          authentication,
          tokens.refresh_token ?? '',
          options,
        ),
      ),
    );
    for (let i = 0; i < 2; i++) {
      const answer = await withNonce(() =>
        oauth.protectedResourceRequest(access_token, 'GET', meUrl(), undefined, undefined, options),
      );
      expect(await answer.json()).toMatchObject({ data: { email: run.user.email } });
    }
  });
});
