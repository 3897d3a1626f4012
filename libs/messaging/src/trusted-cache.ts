import { LRUCache } from 'lru-cache';
import type { NatsConnection } from './nats.connection.js';

interface Entry<V> {
  readonly value: V;
  readonly tags: readonly string[];
}

interface Options<V> {
  readonly max: number;
  /** Fetches a value that is not cached. */
  readonly fetch: (key: string, reference: string) => Promise<V>;
  /** The tags under which a broadcast makes the value stale. */
  readonly tags: (value: V, key: string) => readonly string[];
  /** How long a value may be cached, in milliseconds; 0 not at all. */
  readonly ttl: (value: V) => number;
}

/**
 * Outcome of a lookup: `hit`; `miss`, a fetch begins; `shared`, a fetch is already in flight; `untrusted`, cached values
 * may not be used.
 */
export type Lookup = 'hit' | 'miss' | 'shared' | 'untrusted';

/** Bounds the memory. More than come while a fetch is in flight, unless a user with many grants revokes them. */
const REMEMBERED_EVICTIONS = 100_000;

interface Fetch<V> {
  readonly value: Promise<V>;
  /** The number of the latest change before it began. */
  readonly since: number;
}

/**
 * A bounded cache. Broadcasts evict from it at once, and while broadcasts cannot arrive it is not used. Concurrent misses
 * of one key share one fetch. No lookup returns a value that a broadcast before this lookup made stale.
 */
export class TrustedCache<V> {
  private readonly entries: LRUCache<string, Entry<V>>;
  private readonly keysByTag = new Map<string, Set<string>>();
  private readonly pending = new Map<string, Fetch<V>>();
  /**
   * The number of the latest change by tag: a fetch must not store what a broadcast has made stale since it began. A Map,
   * because an LRUCache of this size takes 4 MB before its first entry.
   */
  private readonly evicted = new Map<string, number>();
  private changes = 0;
  /** The number of the latest change that may have made any value stale. */
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

  /** The value of a key if it is cached and may be used, else undefined: synchronous, for hot paths. */
  cached(key: string): V | undefined {
    const entry = this.connection.trusted ? this.entries.get(key) : undefined;
    if (entry) this.observer('hit');
    return entry?.value;
  }

  /**
   * The value of a key, cached or fetched. Rejects as the fetch does.
   *
   * @param reference id of the request in logs
   * @param fetch for this key, when fetching takes more than the key
   */
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

  /** Reports the outcome of each lookup from now on. */
  observe(observer: (lookup: Lookup) => void): void {
    this.observer = observer;
  }

  get size(): { readonly entries: number; readonly tags: number } {
    return { entries: this.entries.size, tags: this.keysByTag.size };
  }

  /** The fetch in flight, unless its value may be older than a broadcast that has arrived since it began. */
  private shareable(key: string): Fetch<V> | undefined {
    const pending = this.pending.get(key);
    return pending?.since === this.changes ? pending : undefined;
  }

  /** The value is as new as the lookup that fetches it, even if it is stale for later ones: then it is not stored. */
  private async fetch(key: string, reference: string, fetch: Options<V>['fetch']): Promise<V> {
    const since = this.changes;
    const value = await fetch(key, reference);
    const tags = this.options.tags(value, key);
    const isStale = this.cleared > since || tags.some((tag) => (this.evicted.get(tag) ?? 0) > since);
    if (!isStale) this.store(key, value, tags);
    return value;
  }

  private store(key: string, value: V, tags: readonly string[]): void {
    const ttl = this.options.ttl(value);
    if (ttl <= 0) return;
    this.entries.set(key, { value, tags }, { ttl });
    for (const tag of tags) {
      const keys = this.keysByTag.get(tag) ?? new Set();
      this.keysByTag.set(tag, keys.add(key));
    }
  }

  private evict(tag: string): void {
    if (this.evicted.size >= REMEMBERED_EVICTIONS) {
      // Cleared at once: a Map takes tens of microseconds to find its oldest entry after many deletions.
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
