// Stores, refreshes and revokes the tokens of the user.
import * as oauth from 'openid-client';
import { openStore } from './store.js';

const EARLY_MS = 60_000;

export class NotLoggedInError extends Error {}

const storeOf = (server) => openStore(server.serverMetadata().issuer);

const sessionOf = ({ access_token, refresh_token, expires_in }) => ({
  access_token,
  refresh_token,
  expires_at: Date.now() + expires_in * 1000,
});

/** Stores new tokens and revokes earlier ones. @returns where the tokens are stored, for a message */
export async function start(server, tokens) {
  const store = storeOf(server);
  return store.locked(async () => {
    const earlier = await store.read();
    const place = await store.write(sessionOf(tokens));
    // Ignores errors, because the new login works without the revocation.
    if (earlier) await oauth.tokenRevocation(server, earlier.refresh_token).catch(() => undefined);
    return place;
  });
}

/**
 * Requests JSON from the API for the user.
 *
 * @throws NotLoggedInError if the user is not logged in, or the access has ended
 */
export async function useToken(server, url) {
  const token = await accessToken(server);
  const response = await request(url, token);
  if (response.status !== 401) return contentOf(response);
  return contentOf(await request(url, await accessToken(server, token)));
}

/** Revokes the refresh token (RFC 7009) before it deletes the tokens, so that a failed revocation can be retried. */
export async function end(server) {
  const store = storeOf(server);
  await store.locked(async () => {
    const session = await store.read();
    if (session) await oauth.tokenRevocation(server, session.refresh_token);
    await store.remove();
  });
}

/**
 * Returns the access token, and refreshes it if it is about to expire. A refresh token can be used once, so one of
 * several concurrent processes refreshes, and the others wait for its result.
 *
 * @param refused access token that the API has rejected
 */
async function accessToken(server, refused) {
  const store = storeOf(server);
  const valid = (session) =>
    session && session.access_token !== refused && session.expires_at - EARLY_MS > Date.now();
  const session = await store.read();
  if (valid(session)) return session.access_token;
  return store.locked(async () => {
    const current = await store.read();
    if (valid(current)) return current.access_token;
    if (!current) throw new NotLoggedInError('You are not logged in.');
    const tokens = await refresh(server, current.refresh_token);
    if (!tokens) {
      await store.remove();
      throw new NotLoggedInError('Your access has ended.');
    }
    await store.write(sessionOf(tokens));
    return tokens.access_token;
  });
}

/** @returns undefined if the access has ended */
async function refresh(server, refreshToken) {
  try {
    return await oauth.refreshTokenGrant(server, refreshToken);
  } catch (error) {
    if (error.error === 'invalid_grant') return undefined;
    throw error;
  }
}

const request = (url, token) =>
  fetch(url, { headers: { Authorization: `Bearer ${token}` }, signal: AbortSignal.timeout(10_000) });

async function contentOf(response) {
  if (response.status === 401) throw new NotLoggedInError('Your access has ended.');
  if (!response.ok) throw new Error(`The API answered with the status ${response.status}.`);
  return response.json();
}
