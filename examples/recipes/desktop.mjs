// A public client that is registered with http://127.0.0.1/callback may use any free port. Do not use the name localhost,
// which may lead to an address at which your application does not listen (RFC 8252 8.3).
import { once } from 'node:events';
import { createServer } from 'node:http';
import * as client from 'openid-client';

const { ISSUER, API_URL, CLIENT_ID } = process.env;
const server = await client.discovery(new URL(ISSUER), CLIENT_ID, {}, client.None(), {
  algorithm: 'oauth2',
  execute: ISSUER.startsWith('http://localhost:') ? [client.allowInsecureRequests] : [],
});

const listener = createServer().listen(0, '127.0.0.1');
await once(listener, 'listening');
const redirect_uri = `http://127.0.0.1:${listener.address().port}/callback`;
const [state, verifier] = [client.randomState(), client.randomPKCECodeVerifier()];
const url = client.buildAuthorizationUrl(server, {
  redirect_uri,
  scope: 'profile:read bookings:read',
  state,
  code_challenge: await client.calculatePKCECodeChallenge(verifier),
  code_challenge_method: 'S256',
});
console.log(`Open this address in your browser: ${url}`);

const callback = await new Promise((resolve) => {
  listener.on('request', (request, response) => {
    response.end('You can close this page.');
    if (request.url.startsWith('/callback?')) resolve(new URL(request.url, redirect_uri));
  });
});
listener.close();

const tokens = await client.authorizationCodeGrant(server, callback, {
  expectedState: state,
  pkceCodeVerifier: verifier,
});
const me = new URL(`${API_URL}/v2/me`);
const answer = await client.fetchProtectedResource(server, tokens.access_token, me, 'GET');
console.log(`Connected as ${(await answer.json()).data.email}`);
