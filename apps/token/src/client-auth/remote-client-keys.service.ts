import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type ClientJwkSet, readFetchedKeys } from '#oauth/client-assertion/client-keys.js';
import { InvalidKeyError } from '#oauth/jwk.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { freshFor, OutsideFetchError, OutsideHttp } from '#platform/http/outside-http.js';

const FRESHNESS_MS = { min: 60_000, max: 60 * 60_000, byDefault: 10 * 60_000 };
/** Minimum time between two fetches of a set, even if a fetch failed or no key of the set verifies an assertion. */
const REFETCH_MS = 30_000;
/** Time for which expired keys are accepted while the set cannot be fetched. */
const KEEP_STALE_MS = 60 * 60_000;

const CACHED_SETS = 1_000;

interface KnownKeys {
  readonly keys: ClientJwkSet;
  readonly freshUntil: number;
}

interface Entry {
  known?: KnownKeys;
  failure?: Error;
  attemptedAt: number;
  pending?: Promise<void>;
}

export interface RemoteKeysState {
  /** Milliseconds since the epoch. */
  readonly attemptedAt: number;
  readonly failure: Error | null;
  readonly keys: ClientJwkSet;
}

/** Cache of the JWK Sets at the `jwks_uri` of clients. Concurrent requests for a set share one fetch. */
@Injectable()
export class RemoteClientKeysService {
  private readonly entries = new LRUCache<string, Entry>({ max: CACHED_SETS });

  constructor(
    private readonly http: OutsideHttp,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Tries the cached keys, and fetches missing or expired keys first. If no key verifies the assertion, fetches the set
   * again, because the client may have rotated its keys. Fetches at most twice a minute, because anyone can send an
   * assertion with an unknown key.
   * @throws an error that `isFailure` accepts if no keys are cached and the set cannot be fetched
   */
  async tryKeys(url: string, verifies: (keys: ClientJwkSet) => Promise<boolean>): Promise<boolean> {
    const entry = await this.current(url);
    const known = this.lastKnown(entry);
    if (!known) throw entry.failure ?? new OutsideFetchError('unreachable', 'the keys are not known');
    if (await verifies(known.keys)) return true;
    await this.refresh(url, entry);
    const refetched = this.lastKnown(entry);
    return refetched !== undefined && refetched !== known && verifies(refetched.keys);
  }

  /** Returns the keys that assertions are tried with, and the result of the last attempt to fetch them. */
  async state(url: string): Promise<RemoteKeysState> {
    const entry = await this.current(url);
    const { attemptedAt, failure = null } = entry;
    return { attemptedAt, failure, keys: this.lastKnown(entry)?.keys ?? { keys: [] } };
  }

  isFailure(error: unknown): error is Error {
    return error instanceof OutsideFetchError || error instanceof InvalidKeyError;
  }

  /** Fetches missing or expired keys first. */
  private async current(url: string): Promise<Entry> {
    const entry = this.entries.get(url) ?? { attemptedAt: Number.NEGATIVE_INFINITY };
    this.entries.set(url, entry);
    const before = this.lastKnown(entry);
    if (!before || before.freshUntil <= this.clock()) await this.refresh(url, entry);
    return entry;
  }

  private lastKnown({ known }: Entry): KnownKeys | undefined {
    return known && this.clock() < known.freshUntil + KEEP_STALE_MS ? known : undefined;
  }

  /** Does nothing if the latest attempt is too recent. Never throws. */
  private async refresh(url: string, entry: Entry): Promise<void> {
    if (!entry.pending && this.clock() - entry.attemptedAt < REFETCH_MS) return;
    entry.pending ??= this.fetch(url, entry).finally(() => delete entry.pending);
    await entry.pending;
  }

  private async fetch(url: string, entry: Entry): Promise<void> {
    entry.attemptedAt = this.clock();
    try {
      const response = await this.http.fetchOutside(url, {
        headers: { Accept: 'application/jwk-set+json, application/json' },
      });
      if (response.status !== 200)
        throw new OutsideFetchError('unreachable', `its host answered with the status ${response.status}`);
      const keys = readFetchedKeys(response.body.toString('utf8'));
      entry.known = { keys, freshUntil: this.clock() + freshFor(response, FRESHNESS_MS) };
      delete entry.failure;
    } catch (error) {
      entry.failure = error as Error;
    }
  }
}
