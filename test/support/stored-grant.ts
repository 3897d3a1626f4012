import type { Redis } from 'ioredis';
import { FIELD, STATUS } from '#grants/grant-hash.js';

/** The hash of a grant with full names. */
export interface StoredGrant extends Partial<Record<keyof typeof FIELD, string>> {
  readonly status?: keyof typeof STATUS;
  readonly [other: string]: string | undefined;
}

/** Empty if Redis lacks the grant. */
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
