// simple-oauth2 does not read metadata, does not generate `state` and PKCE, and does not compare `state`.
import { createHash, randomBytes } from 'node:crypto';
import { AuthorizationCode } from 'simple-oauth2';

const { AUTHORIZATION_URL, ISSUER, API_URL, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI } = process.env;
const authorization = new URL(AUTHORIZATION_URL);
const client = new AuthorizationCode({
  client: { id: CLIENT_ID, secret: CLIENT_SECRET },
  auth: {
    authorizeHost: authorization.origin,
    authorizePath: authorization.pathname,
    tokenHost: ISSUER,
    tokenPath: '/api/auth/oauth/token',
    revokePath: '/api/auth/oauth/revoke',
  },
  options: { authorizationMethod: 'body' },
});

export function start() {
  const [state, verifier] = [randomBytes(24).toString('base64url'), randomBytes(32).toString('base64url')];
  const url = client.authorizeURL({
    redirect_uri: REDIRECT_URI,
    scope: 'profile:read bookings:read',
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  return [url, { state, verifier }];
}

export async function finish(callback, { state, verifier }) {
  const answer = Object.fromEntries(new URL(callback).searchParams);
  if (answer.state !== state || answer.iss !== ISSUER) throw new Error('not the answer to our request');
  if (answer.error) throw new Error(answer.error);
  const { code } = answer;
  const { token } = await client.getToken({ code, redirect_uri: REDIRECT_URI, code_verifier: verifier });
  return token;
}

export async function refresh(tokens) {
  return (await client.createToken(tokens).refresh()).token;
}

export async function profile(tokens) {
  const headers = { Authorization: `Bearer ${tokens.access_token}` };
  const answer = await fetch(`${API_URL}/v2/me`, { headers });
  return (await answer.json()).data;
}

export function disconnect(tokens) {
  return client.createToken(tokens).revoke('refresh_token');
}

export function ended(error) {
  return error.data?.payload?.error === 'invalid_grant';
}
