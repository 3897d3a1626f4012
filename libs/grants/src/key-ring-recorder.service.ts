import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { TokenKeyStore } from '#database/token-key/token-key.store.js';
import { KeyRing } from './key-ring.js';
import { LIFETIMES, type Lifetimes } from './lifetimes.js';

/** Ids of the key that this process signs with and of the key recorded last. */
export interface SigningKeyChange {
  readonly key: string;
  readonly previousKey: string;
}

const INTERVAL_S = 60 * 60;
const RETRY_S = 60;

/**
 * Records the signing key in PostgreSQL at startup and every hour, with the latest time at which live tokens may need it. Requests do
 * not wait. The time includes one more hour, because a process may sign until its next record.
 */
@Injectable()
export class KeyRingRecorder implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Keys');
  private readonly ids: readonly string[];
  private readonly lifetimeS: number;
  private readonly listeners = new Set<(change: SigningKeyChange) => void>();
  private timer: NodeJS.Timeout | undefined;
  private wasRecorded = false;
  private isFailing = false;
  private isShutDown = false;

  constructor(
    keys: KeyRing,
    @Inject(LIFETIMES) { code, accessToken, refreshToken, clockSkew }: Lifetimes,
    private readonly store: TokenKeyStore,
  ) {
    this.ids = keys.keys.map(({ id }) => id);
    this.lifetimeS = Math.max(code, accessToken, refreshToken) + clockSkew + INTERVAL_S;
  }

  /** Calls back once, if this process starts with another signing key than the one recorded last. */
  onChange(listener: (change: SigningKeyChange) => void): void {
    this.listeners.add(listener);
  }

  onApplicationBootstrap(): void {
    void this.run();
  }

  onApplicationShutdown(): void {
    this.isShutDown = true;
    clearTimeout(this.timer);
  }

  private async run(): Promise<void> {
    const isRecorded = await this.record();
    this.isFailing = !isRecorded;
    if (this.isShutDown) return;
    this.timer = setTimeout(() => void this.run(), (isRecorded ? INTERVAL_S : RETRY_S) * 1000).unref();
  }

  private async record(): Promise<boolean> {
    const [key = ''] = this.ids;
    try {
      const previousKey = await this.store.recordRing(this.ids, this.lifetimeS);
      // During a rollout processes sign with different keys, so only the first record of a process counts.
      if (!this.wasRecorded && previousKey !== null && previousKey !== key) this.notify({ key, previousKey });
      this.wasRecorded = true;
      return true;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!this.isFailing && !this.isShutDown)
        this.logger.warn(`the signing key has not been recorded yet: ${reason}`);
      return false;
    }
  }

  private notify(change: SigningKeyChange): void {
    this.logger.log({ key: change.key, previous_key: change.previousKey, msg: 'signing key changed' });
    for (const listener of this.listeners) listener(change);
  }
}
