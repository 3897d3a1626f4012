import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { generateCodeVerifier, OAuth2Client } from '@badgateway/oauth2-client';
import express from 'express';
import session from 'express-session';
import { Passport } from 'passport';
import OAuth2Strategy from 'passport-oauth2';
import { AuthorizationCode } from 'simple-oauth2';
import { ClientStore } from '#clients/client.store.js';
import { becomesRefused } from '../support/tokens.js';
import {
  allow,
  createResourceServer,
  type RunningProduct,
  startProduct,
  withStores,
} from '../end-to-end/running-product.js';

let product: RunningProduct;
let bookingsApi: { id: string; secret: string };
let pocket: { client_id: string; redirect_uri: string };

beforeAll(async () => {
  product = await startProduct();
  await withStores(product.databaseUrl, async (stores) => {
    bookingsApi = await createResourceServer(stores, 'Bookings API');
    const redirectUri = 'com.example.pocket:/callback';
    const { clientId } = await stores
      .get(ClientStore)
      .create({ name: 'Pocket', type: 'public', scopes: ['profile:read'], redirectUris: [redirectUri] });
    pocket = { client_id: clientId, redirect_uri: redirectUri };
  });
});

afterAll(() => product.close());

async function me(accessToken: unknown): Promise<unknown> {
  const answer = await fetch(`${product.run.api_url}/v2/me`, {
    headers: { Authorization: `Bearer ${String(accessToken)}` },
  });
  return ((await answer.json()) as { data?: { email?: string } }).data?.email ?? answer.status;
}

const refused = (accessToken: unknown) => becomesRefused(product.run.api_url, String(accessToken));

const discover = (clientId: string, authentication: openid.ClientAuth) =>
  openid.discovery(new URL(product.run.base_url), clientId, {}, authentication, {
    algorithm: 'oauth2',
    execute: [openid.allowInsecureRequests],
  });

describe('openid-client', () => {
  // @rfc 9700 2.6 @library openid-client
  it.each([
    [
      'client_secret_post',
      () => [product.run.client, openid.ClientSecretPost(product.run.client.client_secret)] as const,
    ],
    [
      'client_secret_basic',
      () => [product.run.client, openid.ClientSecretBasic(product.run.client.client_secret)] as const,
    ],
    ['none', () => [pocket, openid.None()] as const],
  ])('supports discovery and the whole flow with %s and PKCE', async (_method, who) => {
    const { run } = product;
    const [{ client_id, redirect_uri }, authentication] = who();
    const configuration = await discover(client_id, authentication);
    const verifier = openid.randomPKCECodeVerifier();
    const state = openid.randomState();
    const code_challenge = await openid.calculatePKCECodeChallenge(verifier);
    const url = openid.buildAuthorizationUrl(configuration, {
      redirect_uri,
      scope: 'profile:read',
      code_challenge,
      code_challenge_method: 'S256',
      state,
    });
    const callback = await allow(run, url);
    const tokens = await openid.authorizationCodeGrant(configuration, callback, {
      pkceCodeVerifier: verifier,
      expectedState: state,
    });
    // The library subtracts the seconds since the response, which may be several on a busy machine.
    expect(tokens.expiresIn()).toBeGreaterThan(1700);
    expect(await me(tokens.access_token)).toBe(run.user.email);
    const renewed = await openid.refreshTokenGrant(configuration, tokens.refresh_token ?? '');
    expect(renewed.access_token).not.toBe(tokens.access_token);
    expect(await me(renewed.access_token)).toBe(run.user.email);
    await openid.tokenRevocation(configuration, renewed.refresh_token ?? '');
    await refused(renewed.access_token);
    // The library parses the error format of RFC 6749 5.2.
    await expect(openid.refreshTokenGrant(configuration, renewed.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
      status: 400,
    });
  });
});

it('openid-client requests the API’s resource alone or with another resource (RFC 8707, RFC 9728)', async () => {
  const { run } = product;
  const { client_id, client_secret, redirect_uri } = run.client;
  const found = await fetch(`${run.api_url}/.well-known/oauth-protected-resource`);
  const { resource, authorization_servers } = (await found.json()) as {
    resource: string;
    authorization_servers: string[];
  };
  expect(authorization_servers).toEqual([run.base_url]);
  const configuration = await discover(client_id, openid.ClientSecretPost(client_secret));
  const resources = new URLSearchParams([
    ['resource', resource],
    ['resource', `${resource}/v2/me`],
  ]);
  const state = openid.randomState();
  const requested = new URLSearchParams([...resources, ['redirect_uri', redirect_uri], ['state', state]]);
  const callback = await allow(run, openid.buildAuthorizationUrl(configuration, requested));
  const tokens = await openid.authorizationCodeGrant(
    configuration,
    callback,
    { expectedState: state },
    resources,
  );
  const renewal = { resource: new URL(resource).href };
  const renewed = await openid.refreshTokenGrant(configuration, tokens.refresh_token ?? '', renewal);
  expect(await me(renewed.access_token)).toBe(run.user.email);
  const elsewhere = { resource: 'https://elsewhere.example' };
  await expect(
    openid.refreshTokenGrant(configuration, renewed.refresh_token ?? '', elsewhere),
  ).rejects.toMatchObject({ error: 'invalid_target', status: 400 });
});

describe('oauth4webapi', () => {
  // @rfc 8414 3.3 @rfc 9207 2 @library oauth4webapi
  it('supports discovery, the code flow, refreshes and introspection', async () => {
    const { run } = product;
    const insecure = { [oauth.allowInsecureRequests]: true };
    const issuer = new URL(run.base_url);
    const server = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
    );
    const client = { client_id: run.client.client_id };
    const authentication = oauth.ClientSecretBasic(run.client.client_secret);
    const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState()];
    const url = new URL(server.authorization_endpoint ?? '');
    const challenge = await oauth.calculatePKCECodeChallenge(verifier);
    url.search = new URLSearchParams({
      ...client,
      redirect_uri: run.client.redirect_uri,
      response_type: 'code',
      state,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    }).toString();
    const parameters = oauth.validateAuthResponse(server, client, await allow(run, url), state);
    const redeemed = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      authentication,
      parameters,
      run.client.redirect_uri,
      verifier,
      insecure,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, redeemed);
    const renewed = await oauth.refreshTokenGrantRequest(
      server,
      client,
      authentication,
      tokens.refresh_token ?? '',
      insecure,
    );
    const { access_token } = await oauth.processRefreshTokenResponse(server, client, renewed);
    const answer = await oauth.protectedResourceRequest(
      access_token,
      'GET',
      new URL(`${run.api_url}/v2/me`),
      undefined,
      undefined,
      insecure,
    );
    expect(await answer.json()).toMatchObject({ data: { email: run.user.email } });

    const api = { client_id: bookingsApi.id };
    const introspection = await oauth.introspectionRequest(
      server,
      api,
      oauth.ClientSecretBasic(bookingsApi.secret),
      access_token,
      insecure,
    );
    expect(await oauth.processIntrospectionResponse(server, api, introspection)).toMatchObject({
      active: true,
      client_id: client.client_id,
      scope: 'profile:read',
    });
    await oauth.processRevocationResponse(
      await oauth.revocationRequest(server, client, authentication, access_token, insecure),
    );
    await refused(access_token);
  });
});

describe('simple-oauth2', () => {
  // @library simple-oauth2
  it.each(['form', 'json'] as const)(
    'supports the whole flow with a %s body and the path refreshToken',
    async (bodyFormat) => {
      const { run } = product;
      const { client_id: id, client_secret: secret, redirect_uri } = run.client;
      const client = new AuthorizationCode({
        client: { id, secret },
        auth: {
          tokenHost: run.base_url,
          tokenPath: '/api/auth/oauth/token',
          refreshPath: '/api/auth/oauth/refreshToken',
          revokePath: '/api/auth/oauth/revoke',
          authorizeHost: run.auth_url,
          authorizePath: '/auth/oauth2/authorize',
        },
        options: { bodyFormat, authorizationMethod: 'body' },
      });
      const state = randomBytes(16).toString('base64url');
      const callback = await allow(run, client.authorizeURL({ redirect_uri, state, scope: 'profile:read' }));
      expect(callback.searchParams.get('state')).toBe(state);
      const token = await client.getToken({ code: callback.searchParams.get('code') ?? '', redirect_uri });
      expect(await me(token.token['access_token'])).toBe(run.user.email);
      expect(token.expired()).toBe(false);
      const renewed = await token.refresh();
      expect(await me(renewed.token['access_token'])).toBe(run.user.email);
      await renewed.revokeAll();
      await refused(renewed.token['access_token']);
    },
  );
});

describe('@badgateway/oauth2-client', () => {
  // @library badgateway
  it('supports discovery and the whole flow', async () => {
    const { run } = product;
    const client = new OAuth2Client({
      server: run.base_url,
      discoveryEndpoint: '/.well-known/oauth-authorization-server',
      clientId: run.client.client_id,
      clientSecret: run.client.client_secret,
    });
    const [state, codeVerifier] = [randomBytes(16).toString('base64url'), await generateCodeVerifier()];
    const redirectUri = run.client.redirect_uri;
    const url = await client.authorizationCode.getAuthorizeUri({
      redirectUri,
      state,
      codeVerifier,
      scope: ['profile:read'],
    });
    const token = await client.authorizationCode.getTokenFromCodeRedirect(await allow(run, url), {
      redirectUri,
      state,
      codeVerifier,
    });
    expect(await me(token.accessToken)).toBe(run.user.email);
    const renewed = await client.refreshToken(token);
    expect(await me(renewed.accessToken)).toBe(run.user.email);
    const api = new OAuth2Client({
      server: run.base_url,
      discoveryEndpoint: '/.well-known/oauth-authorization-server',
      clientId: bookingsApi.id,
      clientSecret: bookingsApi.secret,
    });
    expect(await api.introspect(renewed)).toMatchObject({ active: true });
    await client.revoke(renewed);
    await refused(renewed.accessToken);
  });
});

describe('passport-oauth2', () => {
  // @library passport-oauth2
  it('logs a user in to an Express application with state and PKCE', async () => {
    const { run } = product;
    const application = express();
    const server = application.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const passport = new Passport();
    const options = {
      authorizationURL: `${run.auth_url}/auth/oauth2/authorize`,
      tokenURL: `${run.base_url}/api/auth/oauth/token`,
      clientID: run.client.client_id,
      clientSecret: run.client.client_secret,
      callbackURL: run.client.redirect_uri,
      scope: ['profile:read'],
      state: true,
      pkce: true,
    };
    passport.use(
      new OAuth2Strategy(
        options,
        (accessToken: string, refreshToken: string, _profile: unknown, done: OAuth2Strategy.VerifyCallback) =>
          done(null, { accessToken, refreshToken }),
      ),
    );
    application.use(
      session({ secret: randomBytes(32).toString('hex'), resave: false, saveUninitialized: true }),
    );
    application.get(
      '/callback',
      passport.authenticate('oauth2', { session: false }),
      (request, response) => void response.json(request.user),
    );
    const login = await fetch(`http://127.0.0.1:${port}/callback`, { redirect: 'manual' });
    const callback = await allow(run, login.headers.get('location') ?? '');
    const cookie = login.headers
      .getSetCookie()
      .map((line) => line.split(';')[0] ?? '')
      .join('; ');
    const answer = await fetch(`http://127.0.0.1:${port}/callback${callback.search}`, {
      headers: { Cookie: cookie },
    });
    const user = (await answer.json()) as { accessToken: string; refreshToken: string };
    expect(await me(user.accessToken)).toBe(run.user.email);
    expect(user.refreshToken).toMatch(/^srt_/);
    server.close();
  });
});
