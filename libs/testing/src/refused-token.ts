import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** A broadcast takes one way through NATS; so many times there and back it is never late. */
const MOST_ROUNDS = 100;

/** What an API answers to a bearer token. */
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

/** A token that nobody has seen is one question to the token app; 503: nobody could be asked just now. */
async function askAboutAnother(apiUrl: string): Promise<void> {
  const unknown = `sat_${randomBytes(63).toString('base64url')}`;
  while ((await statusOfToken(apiUrl, unknown)) !== 401) await sleep(50);
}
