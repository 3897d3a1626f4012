import { LRUCache } from 'lru-cache';
import type { NatsConnection } from './nats.connection.js';

interface Entry<V> {
  readonly value: V;
  readonly tags: readonly string[];
}

interface Options<V> {
  readonly max: number;
  readonly fetch: (key: string, reference: string) => Promise<V>;
  /** Returns the tags by which broadcasts invalidate the value. */
  readonly tags: (value: V, key: string) => readonly string[];
  /** Returns the time to live in milliseconds, or 0 if the value must not be cached. */
  readonly ttl: (value: V, key: string) => number;
}

/** `miss` starts a fetch, `shared` joins a fetch in flight, and `untrusted` bypasses the cache. */
export type Lookup = 'hit' | 'miss' | 'shared' | 'untrusted';

/** Bounds memory. At this number, all evictions are forgotten, and the values of fetches in flight are not stored. */
const REMEMBERED_EVICTIONS = 100_000;

interface Fetch<V> {
  readonly value: Promise<V>;
  /** Number of the latest invalidation before the fetch began. */
  readonly since: number;
}

/**
 * Cache that is bypassed while broadcasts cannot arrive. A lookup never returns a value that a broadcast received
 * before the lookup has made stale. Concurrent lookups of a key share one fetch.
 */
export class InvalidatedCache<V> {
  private readonly entries: LRUCache<string, Entry<V>>;
  private readonly keysByTag = new Map<string, Set<string>>();
  private readonly pending = new Map<string, Fetch<V>>();
  /**
   * Number of the latest invalidation of each tag, so that a fetch does not store a value that has become stale. A Map,
   * because an empty LRUCache of this size takes 4 MB.
   */
  private readonly evicted = new Map<string, number>();
  private changes = 0;
  /** Number of the latest invalidation of all tags, which makes every fetch in flight stale. */
  private cleared = 0;
  private observer: (lookup: Lookup) => void = () => undefined;

  constructor(
    private readonly connection: NatsConnection,
    private readonly options: Options<V>,
  ) {
    this.entries = new LRUCache({
      max: options.max,
      dispose: (entry, key) => this.unindex(key, entry.tags),
    });
    connection.onStale((tag) => (tag === null ? this.clear() : this.evict(tag)));
  }

  /** Returns the cached value or undefined. Synchronous, because hot paths call this method. */
  cached(key: string): V | undefined {
    const entry = this.connection.trusted ? this.entries.get(key) : undefined;
    if (entry) this.observer('hit');
    return entry?.value;
  }

  /** @param reference request id for logs @param fetch replaces `options.fetch` if a fetch needs more than the key */
  async get(key: string, reference = '', fetch = this.options.fetch): Promise<V> {
    const { trusted } = this.connection;
    const entry = trusted ? this.entries.get(key) : undefined;
    const pending = entry ? undefined : this.shareable(key);
    this.observer(entry ? 'hit' : pending ? 'shared' : trusted ? 'miss' : 'untrusted');
    if (entry) return entry.value;
    if (pending) return pending.value;
    const value = this.fetch(key, reference, fetch).finally(() => {
      if (this.pending.get(key) === started) this.pending.delete(key);
    });
    const started = { value, since: this.changes };
    this.pending.set(key, started);
    return value;
  }

  observe(observer: (lookup: Lookup) => void): void {
    this.observer = observer;
  }

  get size(): { readonly entries: number; readonly tags: number } {
    return { entries: this.entries.size, tags: this.keysByTag.size };
  }

  /** Returns the fetch in flight unless a broadcast has arrived since the fetch began. */
  private shareable(key: string): Fetch<V> | undefined {
    const pending = this.pending.get(key);
    return pending?.since === this.changes ? pending : undefined;
  }

  /** Does not cache a value that has become stale during the fetch. */
  private async fetch(key: string, reference: string, fetch: Options<V>['fetch']): Promise<V> {
    const since = this.changes;
    const value = await fetch(key, reference);
    const tags = this.options.tags(value, key);
    const isStale = this.cleared > since || tags.some((tag) => (this.evicted.get(tag) ?? 0) > since);
    if (!isStale) this.store(key, value, tags);
    return value;
  }

  private store(key: string, value: V, tags: readonly string[]): void {
    const ttl = this.options.ttl(value, key);
    if (ttl <= 0) return;
    this.entries.set(key, { value, tags }, { ttl });
    for (const tag of tags) {
      const keys = this.keysByTag.get(tag) ?? new Set();
      this.keysByTag.set(tag, keys.add(key));
    }
  }

  evict(tag: string): void {
    if (this.evicted.size >= REMEMBERED_EVICTIONS) {
      // Clears the whole Map, because after many deletions a Map takes tens of microseconds to find its oldest entry.
      this.evicted.clear();
      this.cleared = ++this.changes;
    }
    this.evicted.set(tag, ++this.changes);
    for (const key of this.keysByTag.get(tag) ?? []) this.entries.delete(key);
  }

  private clear(): void {
    this.cleared = ++this.changes;
    this.entries.clear();
  }

  private unindex(key: string, tags: readonly string[]): void {
    for (const tag of tags) {
      const keys = this.keysByTag.get(tag);
      keys?.delete(key);
      if (keys?.size === 0) this.keysByTag.delete(tag);
    }
  }
}
