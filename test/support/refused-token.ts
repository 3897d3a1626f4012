import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** A broadcast takes half a round trip through NATS: after this many round trips it has arrived. */
const MOST_ROUNDS = 100;

/** An API's status for a bearer token. */
export async function statusOfToken(apiUrl: string, accessToken: string): Promise<number> {
  const answer = await fetch(`${apiUrl}/v2/me`, { headers: { Authorization: `Bearer ${accessToken}` } });
  await answer.arrayBuffer();
  return answer.status;
}

/**
 * Resolves when an API refuses a token that it has in its cache, where it would be good for half a minute: it has heard of its
 * end. Counted in questions that the API has asked the token app meanwhile, and not in milliseconds.
 *
 * @returns how many times it has asked before it refused
 * @throws when it has asked too often
 */
export async function becomesRefused(apiUrl: string, accessToken: string): Promise<number> {
  for (let rounds = 0; rounds <= MOST_ROUNDS; rounds += 1) {
    if ((await statusOfToken(apiUrl, accessToken)) === 401) return rounds;
    await askAboutAnother(apiUrl);
  }
  throw new Error(`the token is still taken after ${MOST_ROUNDS} questions to the token app`);
}

/** An unknown token costs one round trip to the token app; 503 means that the token app was not available. */
async function askAboutAnother(apiUrl: string): Promise<void> {
  const unknown = `sat_${randomBytes(63).toString('base64url')}`;
  while ((await statusOfToken(apiUrl, unknown)) !== 401) await sleep(50);
}
