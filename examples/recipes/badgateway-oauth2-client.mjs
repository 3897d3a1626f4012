// The library reads the metadata at `discoveryEndpoint`, and compares the `state` that you generate.
import { randomBytes } from 'node:crypto';
import { generateCodeVerifier, OAuth2Client } from '@badgateway/oauth2-client';

const { ISSUER, API_URL, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI } = process.env;
const client = new OAuth2Client({
  server: ISSUER,
  discoveryEndpoint: '/.well-known/oauth-authorization-server',
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
});

export async function start() {
  const session = {
    state: randomBytes(24).toString('base64url'),
    codeVerifier: await generateCodeVerifier(),
  };
  const scope = ['profile:read', 'bookings:read'];
  const url = await client.authorizationCode.getAuthorizeUri({
    redirectUri: REDIRECT_URI,
    scope,
    ...session,
  });
  return [url, session];
}

export function finish(callback, session) {
  return client.authorizationCode.getTokenFromCodeRedirect(callback, {
    redirectUri: REDIRECT_URI,
    ...session,
  });
}

export function refresh(tokens) {
  return client.refreshToken(tokens);
}

export async function profile(tokens) {
  const headers = { Authorization: `Bearer ${tokens.accessToken}` };
  const answer = await fetch(`${API_URL}/v2/me`, { headers });
  return (await answer.json()).data;
}

export function disconnect(tokens) {
  return client.revoke(tokens, 'refresh_token');
}

export function ended(error) {
  return error.oauth2Code === 'invalid_grant';
}
