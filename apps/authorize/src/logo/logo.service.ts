import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type ClientLogo, isLogoDigest } from '#database/client/client.js';
import { ClientLogoStore } from '#database/client/client-logo.store.js';

/** At most 2.4 MiB, because a logo has at most 12 KiB. */
const CACHED_LOGOS = 200;
/** A removed logo may still be served until its cache entry expires. */
const CACHED_MS = 10 * 60_000;

/** Runs one query at a time for all waiting digests, so that a flood of guesses uses only one database connection. */
@Injectable()
export class LogoService {
  /** Only existing logos are cached, so guessed digests evict nothing. */
  private readonly cache = new LRUCache<string, ClientLogo>({ max: CACHED_LOGOS, ttl: CACHED_MS });
  private running: Promise<unknown> = Promise.resolve();
  private next: Promise<ReadonlyMap<string, ClientLogo>> | null = null;
  private requested = new Set<string>();

  constructor(private readonly store: ClientLogoStore) {}

  async find(digest: string): Promise<ClientLogo | null> {
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
    const logos = await query;
    for (const [digest, logo] of logos) this.cache.set(digest, logo);
    return logos;
  }
}
