import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type ClientLogo, isLogoDigest } from '#database/client/client.js';
import { ClientLogoStore } from '#database/client/client-logo.store.js';

/** 2.4 MiB at most, since an image has 12 KiB. */
const KEPT = 200;
/** Milliseconds for which an image that the operator removed may still be served. */
const KEPT_MS = 10 * 60_000;

/**
 * Logos by their digest, from memory where they were asked for before. One query runs at a time, for all that were asked
 * for meanwhile: whoever guesses digests by the hundred occupies one connection to the database and not all of them,
 * for which logins wait.
 */
@Injectable()
export class LogoService {
  /** Only what exists gets a place, so that guesses push no real image out. */
  private readonly kept = new LRUCache<string, ClientLogo>({ max: KEPT, ttl: KEPT_MS });
  private running: Promise<unknown> = Promise.resolve();
  /** The query after the running one, and what it will ask for. */
  private next: Promise<ReadonlyMap<string, ClientLogo>> | null = null;
  private asked = new Set<string>();

  constructor(private readonly store: ClientLogoStore) {}

  async find(digest: string): Promise<ClientLogo | null> {
    // What cannot be one is answered while the database cannot.
    if (!isLogoDigest(digest)) return null;
    return this.kept.get(digest) ?? (await this.ask(digest)).get(digest) ?? null;
  }

  private ask(digest: string): Promise<ReadonlyMap<string, ClientLogo>> {
    this.asked.add(digest);
    this.next ??= this.running.then(() => this.query());
    return this.next;
  }

  private async query(): Promise<ReadonlyMap<string, ClientLogo>> {
    const query = this.store.find([...this.asked]);
    this.running = query.catch(() => undefined);
    this.next = null;
    this.asked = new Set();
    const found = await query;
    for (const [digest, logo] of found) this.kept.set(digest, logo);
    return found;
  }
}
