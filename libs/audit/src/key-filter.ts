import { hash } from 'node:crypto';
import type { AuditEvent } from './event.js';
import { type AuditFilter, SEARCHED_FIELDS, searchedValues } from './filter.js';

/** With this size, a filter reports one in 1,700 absent keys as present. */
const BITS_PER_KEY = 16;
export const HASHES = 8;

/** A key sets the bits `(first + i * step) % size` for each i below `HASHES`. */
export interface HashedKey {
  readonly first: number;
  readonly step: number;
}

/** Returns the keys by which a search can find an event. */
export function keysOf(event: AuditEvent): string[] {
  const named = SEARCHED_FIELDS.filter(([, field]) => event[field] !== undefined);
  return [...named.map(([name, field]) => `${name}:${event[field]}`), `type:${event.type}`];
}

/** Returns the keys that every matching event has, rarest first. */
export function keysOfFilter(filter: AuditFilter): string[] {
  const keys = searchedValues(filter).map(({ name, value }) => `${name}:${value}`);
  const [type, ...others] = filter.types ?? [];
  return type === undefined || others.length > 0 ? keys : [...keys, `type:${type}`];
}

export function hashed(key: string): HashedKey {
  const digest = hash('sha256', key, 'buffer');
  return { first: digest.readUInt32BE(0), step: digest.readUInt32BE(4) };
}

/** Returns a Bloom filter. Bit n is in byte n / 8, with the value 2 ** (n % 8), like `get_bit` of PostgreSQL. */
export function keyFilter(keys: ReadonlySet<string>): Buffer {
  const filter = Buffer.alloc(Math.max(8, Math.ceil((keys.size * BITS_PER_KEY) / 8)));
  const size = filter.length * 8;
  for (const { first, step } of [...keys].map(hashed))
    for (let i = 0; i < HASHES; i++) {
      const bit = (first + i * step) % size;
      filter[bit >> 3] = (filter[bit >> 3] ?? 0) | (1 << (bit & 7));
    }
  return filter;
}
