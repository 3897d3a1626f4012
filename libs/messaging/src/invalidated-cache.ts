import { LRUCache } from 'lru-cache';
import type { Msg } from '@nats-io/transport-node';
import type { Clock } from '#platform/clock.js';
import { MalformedMessageError, MalformedMessageLog, readObject } from './nats-message.js';
import { Throttled } from './throttled.js';

/** Milliseconds after an answered ping for which caches may be used. Without NATS, no broadcast evicts stale values. */
const TRUST_MS = 5_000;

/**
 * Returns the tag of the values that a broadcast makes stale.
 * @throws MalformedMessageError for an unreadable payload
 */
export type TagOfBroadcast = (payload: unknown) => string;

type Listener = (tag: string | null) => void;

/** Broadcasts that make values stale. Also reports when broadcasts may have been missed. */
export class Broadcasts {
  /** Send time of the latest answered ping, in milliseconds since the epoch. */
  private echoedAt = 0;
  private readonly listeners = new Set<Listener>();
  private readonly malformed = new MalformedMessageLog();
  /** Throttled, because an attacker who sends unreadable broadcasts must not be able to keep the caches empty. */
  private readonly invalidateAll = new Throttled(TRUST_MS, () => this.invalidate(null));

  constructor(private readonly clock: Clock) {}

  /** True if every broadcast older than 5 s must have arrived. If false, caches must not be used. */
  get trusted(): boolean {
    const age = this.clock() - this.echoedAt;
    // The age is negative if the clock was set back.
    return age >= 0 && age <= TRUST_MS;
  }

  /** Calls back with the tag of stale values, or with null if every value may be stale. */
  onStale(listener: Listener): void {
    this.listeners.add(listener);
  }

  onEcho(sentAt: number): void {
    this.echoedAt = sentAt;
  }

  receive(subject: string, message: Msg, tagOf: TagOfBroadcast): void {
    let tag: string;
    try {
      tag = tagOf(readObject(message));
    } catch (error) {
      if (!(error instanceof MalformedMessageError)) throw error;
      this.malformed.warn(subject, message, error);
      this.invalidateAll.run();
      return;
    }
    this.invalidate(tag);
  }

  invalidate(tag: string | null): void {
    for (const listener of this.listeners) listener(tag);
  }

  close(): void {
    this.invalidateAll.cancel();
  }
}

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
    private readonly broadcasts: Broadcasts,
    private readonly options: Options<V>,
  ) {
    this.entries = new LRUCache({
      max: options.max,
      dispose: (entry, key) => this.unindex(key, entry.tags),
    });
    broadcasts.onStale((tag) => (tag === null ? this.clear() : this.evict(tag)));
  }

  /** Returns the cached value or undefined. Synchronous, because hot paths call this method. */
  cached(key: string): V | undefined {
    const entry = this.broadcasts.trusted ? this.entries.get(key) : undefined;
    if (entry) this.observer('hit');
    return entry?.value;
  }

  /** @param reference request id for logs @param fetch replaces `options.fetch` if a fetch needs more than the key */
  async get(key: string, reference = '', fetch = this.options.fetch): Promise<V> {
    const { trusted } = this.broadcasts;
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
