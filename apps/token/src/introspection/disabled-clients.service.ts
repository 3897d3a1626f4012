import { AsyncResource } from 'node:async_hooks';
import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  Optional,
} from '@nestjs/common';
import { ClientStore } from '#database/client/client.store.js';
import type { ActiveToken, Refusal } from '#grants/grant.js';
import { type ClientChanged, SUBJECTS, tagOf } from '#introspection/contract.js';
import { NatsConnection } from '#platform/nats/nats.connection.js';

/** Milliseconds from one reading to the next, and until one that failed is repeated. */
const INTERVALS = { pass: 5_000, retry: 1_000 };

const CLIENT_TAG = tagOf.client('');

/** A token of a client that the operator has disabled: inactive until the client is enabled. */
export interface DisabledRefusal {
  readonly outcome: 'client_disabled';
  readonly grantId: string;
}

/**
 * Which clients are disabled (docs/adr/0019), in memory: introspection asks for every token, and goes on while PostgreSQL is
 * away. Read from PostgreSQL at the start, when a broadcast names a client, after NATS was cut off, and every 5 s.
 *
 * - A client that a broadcast names is unknown until a reading that began later has ended; its tokens wait for it.
 * - Before it was known, this process may have told an API that a token is active, after that API had received the broadcast.
 *   So every process broadcasts when it finds a client disabled: all caches then drop what it said.
 */
@Injectable()
export class DisabledClients implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(DisabledClients.name);
  /** Undefined until the first reading has ended. */
  private disabled: ReadonlySet<string> | undefined;
  /** Clients that a broadcast has named since the last complete reading began: the number of the latest one, by tag. */
  private readonly unknown = new Map<string, number>();
  private broadcasts = 0;
  private reading: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isFailing = false;
  private isShutDown = false;

  constructor(
    private readonly store: ClientStore,
    private readonly nats: NatsConnection,
    @Optional() private readonly intervals = INTERVALS,
  ) {}

  onApplicationBootstrap(): void {
    // Bound, so that readings do not belong to the trace of the message that caused them.
    const read = AsyncResource.bind(() => void this.keepReading());
    this.nats.onStale((tag) => {
      if (tag?.startsWith(CLIENT_TAG)) this.unknown.set(tag, ++this.broadcasts);
      else if (tag !== null) return;
      read();
    });
    read();
  }

  onApplicationShutdown(): void {
    this.isShutDown = true;
    clearTimeout(this.timer);
  }

  /**
   * The result of an introspection, unless the token's client is disabled. Costs no I/O while the client is known.
   *
   * @throws DependencyUnavailableError if it is unknown and PostgreSQL does not answer
   */
  async check<Result extends ActiveToken | Refusal>(result: Result): Promise<Result | DisabledRefusal> {
    if (result.outcome !== 'active') return result;
    const { clientId } = result.grant;
    while (!this.disabled || this.unknown.has(tagOf.client(clientId))) await this.read();
    return this.disabled.has(clientId) ? { outcome: 'client_disabled', grantId: result.grantId } : result;
  }

  /** Reads now and again later; the latest call decides when. */
  private async keepReading(): Promise<void> {
    clearTimeout(this.timer);
    const wait = await this.pass();
    if (this.isShutDown) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.keepReading(), wait).unref();
  }

  /** @returns milliseconds until the next reading */
  private async pass(): Promise<number> {
    try {
      do await this.read();
      while (this.unknown.size > 0);
      this.isFailing = false;
      return this.intervals.pass;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!this.isFailing && !this.isShutDown)
        this.logger.error(`cannot read which clients are disabled: ${reason}`);
      this.isFailing = true;
      return this.intervals.retry;
    }
  }

  /** One reading at a time, which all callers share. */
  private read(): Promise<void> {
    return (this.reading ??= this.readNow().finally(() => (this.reading = undefined)));
  }

  private async readNow(): Promise<void> {
    const began = this.broadcasts;
    const before = this.disabled;
    this.disabled = new Set(await this.store.listDisabled());
    for (const [tag, broadcast] of this.unknown) if (broadcast <= began) this.unknown.delete(tag);
    // Before the first reading this process has told nobody anything.
    if (!before) return;
    for (const clientId of this.disabled)
      if (!before.has(clientId))
        this.nats.publish(SUBJECTS.clientChanged, { client_id: clientId } satisfies ClientChanged);
  }
}
