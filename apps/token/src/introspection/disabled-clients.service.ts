import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { ClientStore } from '#clients/client.store.js';
import type { IntrospectedToken, Refusal } from '#grants/grant.js';
import { type ClientChanged, SUBJECTS, tagOf } from '#messaging/contract.js';
import { NatsConnection } from '#messaging/nats.connection.js';
import { BackgroundLoop, LoopIntervals } from '#platform/background-loop.js';

const CLIENT_TAG = tagOf.client('');

export interface ClientDisabledRefusal {
  readonly outcome: 'client_disabled';
  readonly grantId: string;
}

interface ClientChangedRefusal {
  readonly outcome: 'revoked';
  readonly grantId: string;
}

/**
 * Set of disabled clients in memory (docs/adr/0019-disabled-clients.md). Introspection needs the set for every token,
 * even while PostgreSQL is unavailable. After a broadcast about a client, introspection of the client's tokens waits
 * for a read of PostgreSQL that began after the broadcast. Before this process received the broadcast, it may have
 * reported such a token as active to an API that had already received the broadcast. Therefore every process broadcasts
 * again when it reads that a client has been disabled.
 *
 * A token of `client_credentials` also ends with every change of its client's registration, so that a removed key, and
 * a client that is enabled again, leave no token.
 */
@Injectable()
export class DisabledClientsService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(DisabledClientsService.name);
  private disabled: ReadonlySet<string> | undefined;
  /** Versions of the clients of `client_credentials`. */
  private versions: ReadonlyMap<string, number> = new Map();
  /** Number of the latest broadcast by tag, for clients with a broadcast since the last complete read began. */
  private readonly unknown = new Map<string, number>();
  private broadcasts = 0;
  private reading: Promise<void> | undefined;
  private readonly loop: BackgroundLoop;

  constructor(
    private readonly store: ClientStore,
    private readonly nats: NatsConnection,
    intervals: LoopIntervals,
  ) {
    this.loop = new BackgroundLoop(
      () => this.readAll(),
      intervals,
      (reason) => this.logger.error(`cannot read which clients are disabled: ${reason}`),
    );
  }

  onApplicationBootstrap(): void {
    this.nats.broadcasts.onStale((tag) => {
      if (tag?.startsWith(CLIENT_TAG)) this.unknown.set(tag, ++this.broadcasts);
      else if (tag !== null) return;
      this.loop.run();
    });
    this.loop.run();
  }

  onApplicationShutdown(): void {
    this.loop.stop();
  }

  /**
   * Needs no I/O if the state of the client is known.
   * @throws DependencyUnavailableError if the state is unknown and PostgreSQL is unavailable
   */
  async check<Result extends IntrospectedToken | Refusal>(
    result: Result,
  ): Promise<Result | ClientDisabledRefusal | ClientChangedRefusal> {
    if (result.outcome !== 'active') return result;
    const { grant, grantId, token } = result;
    const { clientId, userId } = grant;
    while (!this.disabled || this.unknown.has(tagOf.client(clientId))) await this.read();
    if (this.disabled.has(clientId)) return { outcome: 'client_disabled', grantId };
    if (userId !== null || (await this.versionOf(clientId, token.generation)) === token.generation)
      return result;
    return { outcome: 'revoked', grantId };
  }

  /**
   * Reads again, twice at most, if the token of an API client is newer: the first read may have begun before the
   * change. The versions of clients with event streams are not in memory.
   */
  private async versionOf(clientId: string, expected: number): Promise<number> {
    const known = () => this.versions.get(clientId);
    if (known() === undefined) return (await this.store.find(clientId))?.version ?? 0;
    for (let reads = 0; reads < 2 && (known() ?? 0) < expected; reads++) await this.read();
    return known() ?? 0;
  }

  private async readAll(): Promise<void> {
    do await this.read();
    while (this.unknown.size > 0);
  }

  private read(): Promise<void> {
    return (this.reading ??= this.readNow().finally(() => (this.reading = undefined)));
  }

  private async readNow(): Promise<void> {
    const began = this.broadcasts;
    const [before, versionsBefore] = [this.disabled, this.versions];
    const [disabled, versions] = await Promise.all([
      this.store.listDisabled(),
      this.store.apiClientVersions(),
    ]);
    [this.disabled, this.versions] = [new Set(disabled), versions];
    for (const [tag, broadcast] of this.unknown) if (broadcast <= began) this.unknown.delete(tag);
    // Before the first read, this process has not reported any token as active.
    if (!before) return;
    const changed = [
      ...disabled.filter((clientId) => !before.has(clientId)),
      ...[...versionsBefore.keys()].filter((id) => versions.get(id) !== versionsBefore.get(id)),
    ];
    for (const clientId of new Set(changed))
      this.nats.publish(SUBJECTS.clientChanged, { client_id: clientId } satisfies ClientChanged);
  }
}
