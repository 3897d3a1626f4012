import * as openid from 'openid-client';
import * as oauth from 'oauth4webapi';
import { ClientStore } from '#clients/client.store.js';
import { allow, type RunningProduct, startProduct, withStores } from '../end-to-end/running-product.js';
import { Browser } from '../support/browser.js';

let shared: RunningProduct;

beforeAll(async () => {
  shared = await startProduct();
});

afterAll(() => shared.close());

describe('interop par', () => {
  async function configured(
    authentication: (secret: string) => openid.ClientAuth,
  ): Promise<openid.Configuration> {
    const { base_url, client } = shared.run;
    return openid.discovery(new URL(base_url), client.client_id, {}, authentication(client.client_secret), {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    });
  }

  describe('openid-client with pushed requests (RFC 9126)', () => {
    it.each([
      ['client_secret_post', openid.ClientSecretPost],
      ['client_secret_basic', openid.ClientSecretBasic],
    ])(
      'pushes requests with %s and PKCE to the endpoint in the metadata',
      async (_method, authentication) => {
        const { run } = shared;
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
      },
    );

    it('reports why a pushed request was rejected', async () => {
      const configuration = await configured(openid.ClientSecretPost);
      const refused = openid.buildAuthorizationUrlWithPAR(configuration, {
        redirect_uri: 'https://evil.example/callback',
        state: openid.randomState(),
      });
      await expect(refused).rejects.toMatchObject({ error: 'invalid_request', status: 400 });
    });
  });
});

describe('interop device', () => {
  let clientId: string;

  beforeAll(async () => {
    ({ clientId } = await withStores(shared.databaseUrl, (stores) =>
      stores.get(ClientStore).create({
        name: 'Room display',
        type: 'public',
        scopes: ['profile:read', 'openid'],
        redirectUris: [],
        deviceGrant: true,
      }),
    ));
  });

  async function decide(link: string, decision: 'allow' | 'deny'): Promise<void> {
    const { email, password } = shared.run.user;
    const phone = new Browser(shared.run.auth_url);
    const login = await phone.open(link);
    const opened = await phone.follow(
      await phone.submit(login, { username: email, password }, '/auth/login'),
    );
    const consent = await phone.submit(opened, {}, '/auth/device');
    expect((await phone.submit(consent, { decision }, '/auth/device/decision')).status).toBe(303);
  }

  describe('openid-client with a device (RFC 8628)', () => {
    /** Shorter than the interval of the service, because the user has decided before the first poll. */
    const SECONDS = 1;

    const configured = () =>
      openid.discovery(new URL(shared.run.base_url), clientId, {}, openid.None(), {
        algorithm: 'oauth2',
        execute: [openid.allowInsecureRequests],
      });

    it.each(['without', 'with'])('gets tokens %s DPoP', async (dpop) => {
      const { run } = shared;
      const configuration = await configured();
      const DPoP = openid.getDPoPHandle(configuration, await openid.randomDPoPKeyPair());
      const options = dpop === 'with' ? { DPoP } : {};
      const started = await openid.initiateDeviceAuthorization(configuration, {
        scope: 'openid profile:read',
      });
      await decide(started.verification_uri_complete ?? '', 'allow');
      const tokens = await openid.pollDeviceAuthorizationGrant(
        configuration,
        { ...started, interval: SECONDS },
        undefined,
        options,
      );
      expect(tokens).toMatchObject({
        token_type: dpop === 'with' ? 'dpop' : 'bearer',
        scope: 'openid profile:read',
      });
      expect(tokens.claims()).toMatchObject({ sub: expect.any(String), auth_time: expect.any(Number) });
      const refreshed = await openid.refreshTokenGrant(
        configuration,
        tokens.refresh_token ?? '',
        {},
        options,
      );
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
      await decide(started.verification_uri_complete ?? '', 'deny');
      const polling = openid.pollDeviceAuthorizationGrant(configuration, { ...started, interval: SECONDS });
      await expect(polling).rejects.toMatchObject({ error: 'access_denied' });
    });
  });
});

// These tests are last, because the second product replaces the passport strategy of the first one.
describe.each(['optional', 'required'] as const)('DPoP (RFC 9449) with %s nonces', (DPOP_NONCE) => {
  let product: RunningProduct;

  beforeAll(async () => {
    product = DPOP_NONCE === 'optional' ? shared : await startProduct({ DPOP_NONCE });
  });

  afterAll(() => (product === shared ? undefined : product.close()));

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
