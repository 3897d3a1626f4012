import { Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { type KeyRingName, TokenKeyStore } from './token-key.store.js';
import { BackgroundLoop } from '#platform/background-loop.js';

export interface RecordedRing {
  readonly ring: KeyRingName;
  readonly ids: readonly string[];
  /** Longest lifetime, in seconds and with the clock skew, of a token that the ring signs. */
  readonly lifetimeS: number;
}

export interface SigningKeyChange {
  readonly ring: KeyRingName;
  readonly key: string;
  readonly previousKey: string;
}

const INTERVAL_S = 60 * 60;
const INTERVALS_MS = { pass: INTERVAL_S * 1000, retry: 60_000 };

/**
 * Records the time until which live tokens may need each signing key. Adds an hour, because each process records its
 * ring only once an hour.
 */
export class KeyRingRecorder implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Keys');
  private readonly listeners = new Set<(change: SigningKeyChange) => void>();
  private readonly recorded = new Set<KeyRingName>();
  private readonly loop = new BackgroundLoop(
    () => this.record(),
    INTERVALS_MS,
    (reason) => this.logger.warn(`the signing key has not been recorded yet: ${reason}`),
  );

  constructor(
    private readonly rings: readonly RecordedRing[],
    private readonly store: TokenKeyStore,
  ) {}

  /** Calls the listener once per ring if the process starts with a signing key other than the latest recorded key. */
  onChange(listener: (change: SigningKeyChange) => void): void {
    this.listeners.add(listener);
  }

  onApplicationBootstrap(): void {
    this.loop.run();
  }

  onApplicationShutdown(): void {
    this.loop.stop();
  }

  private async record(): Promise<void> {
    for (const { ring, ids, lifetimeS } of this.rings) {
      const [key = ''] = ids;
      const previousKey = await this.store.recordRing(ids, lifetimeS + INTERVAL_S, ring);
      // Compares only the first record of a process, because processes sign with different keys during a rollout.
      if (!this.recorded.has(ring) && previousKey !== null && previousKey !== key)
        this.notify({ ring, key, previousKey });
      this.recorded.add(ring);
    }
  }

  private notify(change: SigningKeyChange): void {
    this.logger.log({ key: change.key, previous_key: change.previousKey, msg: 'signing key changed' });
    for (const listener of this.listeners) listener(change);
  }
}
