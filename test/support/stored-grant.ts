import type { Redis } from 'ioredis';
import { FIELD, STATUS } from '#grants/grant-hash.js';

/** Hash of a grant in Redis, with long field names. */
export interface StoredGrant extends Partial<Record<keyof typeof FIELD, string>> {
  readonly status?: keyof typeof STATUS;
  readonly [other: string]: string | undefined;
}

/** Returns the stored grant; an empty object if Redis has no such grant. */
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
