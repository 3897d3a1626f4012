// For servers and edge runtimes. oauth4webapi reads the metadata, and checks `state` and `iss`.
import * as oauth from 'oauth4webapi';

const { ISSUER, API_URL, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI } = process.env;
const client = { client_id: CLIENT_ID };
const secret = oauth.ClientSecretPost(CLIENT_SECRET);
const options = { [oauth.allowInsecureRequests]: ISSUER.startsWith('http://localhost:') };
const server = await oauth.processDiscoveryResponse(
  new URL(ISSUER),
  await oauth.discoveryRequest(new URL(ISSUER), { algorithm: 'oauth2', ...options }),
);

export async function start() {
  const session = { state: oauth.generateRandomState(), verifier: oauth.generateRandomCodeVerifier() };
  const url = new URL(server.authorization_endpoint);
  url.search = new URLSearchParams({
    client_id: CLIENT_ID,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'profile:read bookings:read',
    state: session.state,
    code_challenge: await oauth.calculatePKCECodeChallenge(session.verifier),
    code_challenge_method: 'S256',
  });
  return [url.href, session];
}

export async function finish(callback, { state, verifier }) {
  const answer = oauth.validateAuthResponse(server, client, new URL(callback), state);
  return oauth.processAuthorizationCodeResponse(
    server,
    client,
    await oauth.authorizationCodeGrantRequest(
      server,
      client,
      secret,
      answer,
      REDIRECT_URI,
      verifier,
      options,
    ),
  );
}

export async function refresh(tokens) {
  const answer = await oauth.refreshTokenGrantRequest(server, client, secret, tokens.refresh_token, options);
  return oauth.processRefreshTokenResponse(server, client, answer);
}

export async function profile(tokens) {
  const url = new URL(`${API_URL}/v2/me`);
  const answer = await oauth.protectedResourceRequest(
    tokens.access_token,
    'GET',
    url,
    undefined,
    undefined,
    options,
  );
  return (await answer.json()).data;
}

export async function disconnect(tokens) {
  const answer = await oauth.revocationRequest(server, client, secret, tokens.refresh_token, options);
  await oauth.processRevocationResponse(answer);
}

export function ended(error) {
  return error.error === 'invalid_grant';
}
