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

/** A process signs with another key than the one that signed last. */
export interface SigningKeyChange {
  /** Ids of the keys. */
  readonly key: string;
  readonly previousKey: string;
}

const INTERVAL_S = 60 * 60;
const RETRY_S = 60;

/**
 * Records in PostgreSQL, at start and once an hour, which key this process signs with and until when live tokens may need it. No
 * request waits for it. The recorded time includes another hour, because a process may sign for so long after its last
 * record.
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

  /** Calls back once if this process starts with another signing key than the one recorded last. */
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
      // While a rotation is rolled out, processes sign with different keys: only a new process tells.
      if (!this.wasRecorded && previousKey !== null && previousKey !== key) this.tell({ key, previousKey });
      this.wasRecorded = true;
      return true;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!this.isFailing && !this.isShutDown)
        this.logger.warn(`the key that signs was not recorded yet: ${reason}`);
      return false;
    }
  }

  private tell(change: SigningKeyChange): void {
    this.logger.log({ key: change.key, previous_key: change.previousKey, msg: 'another key signs' });
    for (const listener of this.listeners) listener(change);
  }
}
