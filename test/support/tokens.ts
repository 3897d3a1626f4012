import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Pair {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** Bytes before the thumbprint: version, key id, handle, kind, generation, expiry, and scope mask. */
const FIELD_BYTES = 34;
const KIND_AT = 21;
const BOUND_FLAG = 0x80;
/** Offsets after the fields at which parts may begin, and lengths of thumbprints and MACs. */
const OFFSETS = [0, 16, 32, 33, 48];
const PART_BYTES = [16, 29, 30, 32];
const REST_BYTES = [29, 62];

/**
 * Returns forgeries of a bound token that can be made without a key: its fields, with or without the bound flag,
 * followed by repeated parts of its thumbprint and MAC.
 */
export function rearranged(token: string): string[] {
  const [prefix, bytes] = [token.slice(0, 4), Buffer.from(token.slice(4), 'base64url')];
  const fields = bytes.subarray(0, FIELD_BYTES);
  const bearerFields = Buffer.from(fields);
  bearerFields.writeUInt8(fields.readUInt8(KIND_AT) & ~BOUND_FLAG, KIND_AT);
  const rest = bytes.subarray(FIELD_BYTES);
  const parts = OFFSETS.flatMap((at) => PART_BYTES.map((length) => rest.subarray(at, at + length)));
  const texts = [fields, bearerFields].flatMap((beginning) =>
    parts
      .filter(({ length }) => length > 0)
      .flatMap((part) => REST_BYTES.map((length) => [beginning, Buffer.alloc(length, part)])),
  );
  const forged = texts.map((both) => prefix + Buffer.concat(both).toString('base64url'));
  return [...new Set(forged)].filter((text) => text !== token);
}

/** Maximum number of round trips. A broadcast takes half a round trip. */
const MAX_ROUNDS = 100;

export async function statusOfToken(apiUrl: string, accessToken: string): Promise<number> {
  const answer = await fetch(`${apiUrl}/v2/me`, { headers: { Authorization: `Bearer ${accessToken}` } });
  await answer.arrayBuffer();
  return answer.status;
}

/**
 * Waits until the token is rejected, for at most 100 introspections, which take less than the 30 s of a cache entry.
 *
 * @returns the number of introspections
 */
export async function becomesRefused(apiUrl: string, accessToken: string): Promise<number> {
  for (let rounds = 0; rounds <= MAX_ROUNDS; rounds += 1) {
    if ((await statusOfToken(apiUrl, accessToken)) === 401) return rounds;
    await introspectAnother(apiUrl);
  }
  throw new Error(`the token is still accepted after ${MAX_ROUNDS} introspections`);
}

/** Waits for one round trip by introspecting an unknown token. Retries on 503, while the token app is unavailable. */
async function introspectAnother(apiUrl: string): Promise<void> {
  const unknown = `sat_${randomBytes(63).toString('base64url')}`;
  while ((await statusOfToken(apiUrl, unknown)) !== 401) await sleep(50);
}
