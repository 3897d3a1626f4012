import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type ClientLogo, isLogoDigest } from '#clients/client.js';
import { ClientLogoStore } from '#clients/client-logo.store.js';

/** Total size of the cached images; a logo has at most 128 KiB. */
const CACHED_BYTES = 4 * 1024 * 1024;
/** A removed logo may still be served until its cache entry expires. */
const CACHED_MS = 10 * 60_000;

/** Runs one query at a time for all waiting digests, so that a flood of guesses uses only one database connection. */
@Injectable()
export class LogoService {
  /** Only existing logos are cached, so guessed digests evict nothing. */
  private readonly cache = new LRUCache<string, ClientLogo>({
    maxSize: CACHED_BYTES,
    sizeCalculation: ({ image }) => image.length,
    ttl: CACHED_MS,
  });
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
