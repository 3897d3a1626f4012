import type { Redis } from 'ioredis';
import { FIELD, STATUS } from '#grants/grant-hash.js';

/** Hash of a grant in Redis, with full field names. */
export interface StoredGrant extends Partial<Record<keyof typeof FIELD, string>> {
  readonly status?: keyof typeof STATUS;
  readonly [other: string]: string | undefined;
}

/** Returns the stored grant; empty if Redis lacks it. */
export async function storedGrant(redis: Redis, id: string): Promise<StoredGrant> {
  return withFullNames(await redis.hgetall(`grant:${id}`));
}

export function withFullNames(hash: Readonly<Record<string, string>>): StoredGrant {
  return Object.fromEntries(
    Object.entries(hash).map(([field, value]) => [
      fullName(FIELD, field),
      field === FIELD.status ? fullName(STATUS, value) : value,
    ]),
  );
}

function fullName(shortNames: Readonly<Record<string, string>>, short: string): string {
  return Object.keys(shortNames).find((name) => shortNames[name] === short) ?? short;
}
