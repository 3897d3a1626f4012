import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type ClientLogo, isLogoDigest } from '#database/client/client.js';
import { ClientLogoStore } from '#database/client/client-logo.store.js';

/** At 12 KiB each, at most 2.4 MiB. */
const CACHED_LOGOS = 200;
/** How long a removed image may still be served. */
const CACHED_MS = 10 * 60_000;

/**
 * Finds logos by their digest, in a cache or in the database. One query runs at a time, and the next one takes all digests that
 * were requested meanwhile: a flood of guessed digests occupies one database connection, and logins keep the others.
 */
@Injectable()
export class LogoService {
  /** Holds existing logos only, so that guesses evict nothing. */
  private readonly cache = new LRUCache<string, ClientLogo>({ max: CACHED_LOGOS, ttl: CACHED_MS });
  private running: Promise<unknown> = Promise.resolve();
  /** The query after the running one, and its digests. */
  private next: Promise<ReadonlyMap<string, ClientLogo>> | null = null;
  private requested = new Set<string>();

  constructor(private readonly store: ClientLogoStore) {}

  async find(digest: string): Promise<ClientLogo | null> {
    // Malformed digests need no database.
    if (!isLogoDigest(digest)) return null;
    return this.cache.get(digest) ?? (await this.fetch(digest)).get(digest) ?? null;
  }

  private fetch(digest: string): Promise<ReadonlyMap<string, ClientLogo>> {
    this.requested.add(digest);
    this.next ??= this.running.then(() => this.query());
    return this.next;
  }

  private async query(): Promise<ReadonlyMap<string, ClientLogo>> {
    const query = this.store.find([...this.requested]);
    this.running = query.catch(() => undefined);
    this.next = null;
    this.requested = new Set();
    const found = await query;
    for (const [digest, logo] of found) this.cache.set(digest, logo);
    return found;
  }
}
