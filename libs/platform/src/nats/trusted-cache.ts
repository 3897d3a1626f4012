import { LRUCache } from 'lru-cache';
import type { TokenServiceConnection } from './nats.connection.js';
import { IntrospectionUnavailableError } from './unavailable.error.js';

interface Entry<V> {
  readonly value: V;
  readonly tags: readonly string[];
}

interface Options<V> {
  readonly max: number;
  /** Fetches what is not cached. */
  readonly fetch: (key: string, reference: string) => Promise<V>;
  /** The names under which a broadcast makes the value stale. */
  readonly tags: (value: V, key: string) => readonly string[];
  /** For how long a value may be kept, in milliseconds; 0 keeps it not at all. */
  readonly ttl: (value: V) => number;
}

/**
 * How a look into the cache went: `hit`; `miss`, so that it is fetched; `shared`, a fetch that is under way already;
 * `untrusted`, what is there must not be believed.
 */
export type Lookup = 'hit' | 'miss' | 'shared' | 'untrusted';

/** Longer than any fetch takes: a fetch must not bring back what was made stale while it was under way. */
const STALE_MEMORY_MS = 15_000;
const ATTEMPTS = 3;

/**
 * A bounded cache that broadcasts evict from at once, and that is not believed when broadcasts cannot arrive.
 * Concurrent misses of one key are one fetch.
 */
export class TrustedCache<V> {
  private readonly entries: LRUCache<string, Entry<V>>;
  private readonly keysByTag = new Map<string, Set<string>>();
  private readonly pending = new Map<string, Promise<V>>();
  private readonly stale = new LRUCache<string, number>({ max: 100_000, ttl: STALE_MEMORY_MS });
  private clears = 0;
  private events = 0;
  private observer: (lookup: Lookup) => void = () => undefined;

  constructor(
    private readonly connection: TokenServiceConnection,
    private readonly options: Options<V>,
  ) {
    this.entries = new LRUCache({
      max: options.max,
      dispose: (entry, key) => this.unindex(key, entry.tags),
    });
    connection.onStale((tag) => (tag === null ? this.clear() : this.evict(tag)));
  }

  /**
   * The value of a key, cached or fetched. Rejects as the fetch does.
   * @param reference names the request in logs
   * @param fetch fetches this key where it takes more than its name
   */
  async get(key: string, reference = '', fetch = this.options.fetch): Promise<V> {
    const { trusted } = this.connection;
    const entry = trusted ? this.entries.get(key) : undefined;
    const pending = entry ? undefined : this.pending.get(key);
    this.observer(entry ? 'hit' : pending ? 'shared' : trusted ? 'miss' : 'untrusted');
    if (entry) return entry.value;
    if (pending) return pending;
    const fetched = this.fetch(key, reference, fetch).finally(() => this.pending.delete(key));
    this.pending.set(key, fetched);
    return fetched;
  }

  /** Tells how each look into the cache goes from now on. */
  observe(observer: (lookup: Lookup) => void): void {
    this.observer = observer;
  }

  /** How many values are kept, and under how many tags. */
  get size(): { readonly entries: number; readonly tags: number } {
    return { entries: this.entries.size, tags: this.keysByTag.size };
  }

  private async fetch(key: string, reference: string, fetch: Options<V>['fetch']): Promise<V> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const [clears, events] = [this.clears, this.events];
      const value = await fetch(key, reference);
      const tags = this.options.tags(value, key);
      if (clears === this.clears && !tags.some((tag) => (this.stale.get(tag) ?? 0) > events)) {
        this.store(key, value, tags);
        return value;
      }
    }
    // What was fetched last may be what has just been revoked.
    throw new IntrospectionUnavailableError('every answer was overtaken by a change');
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
    this.stale.set(tag, ++this.events);
    for (const key of this.keysByTag.get(tag) ?? []) this.entries.delete(key);
  }

  private clear(): void {
    this.clears++;
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
