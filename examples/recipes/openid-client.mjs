// openid-client reads the metadata, and checks `state` and `iss`. `algorithm: 'oauth2'` selects the metadata that every
// installation has, also without OpenID Connect.
import * as client from 'openid-client';

const { ISSUER, API_URL, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI } = process.env;
const server = await client.discovery(new URL(ISSUER), CLIENT_ID, CLIENT_SECRET, undefined, {
  algorithm: 'oauth2',
  execute: ISSUER.startsWith('http://localhost:') ? [client.allowInsecureRequests] : [],
});

export async function start() {
  const session = { state: client.randomState(), verifier: client.randomPKCECodeVerifier() };
  const url = client.buildAuthorizationUrl(server, {
    redirect_uri: REDIRECT_URI,
    scope: 'profile:read bookings:read',
    state: session.state,
    code_challenge: await client.calculatePKCECodeChallenge(session.verifier),
    code_challenge_method: 'S256',
  });
  return [url.href, session];
}

export function finish(callback, { state, verifier }) {
  return client.authorizationCodeGrant(server, new URL(callback), {
    expectedState: state,
    pkceCodeVerifier: verifier,
  });
}

export function refresh(tokens) {
  return client.refreshTokenGrant(server, tokens.refresh_token);
}

export async function profile(tokens) {
  const url = new URL(`${API_URL}/v2/me`);
  const answer = await client.fetchProtectedResource(server, tokens.access_token, url, 'GET');
  return (await answer.json()).data;
}

export function disconnect(tokens) {
  return client.tokenRevocation(server, tokens.refresh_token);
}

export function ended(error) {
  return error.error === 'invalid_grant';
}
