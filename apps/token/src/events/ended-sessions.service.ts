import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { LogoutStore } from '#events/logout.store.js';
import { GrantEngine } from '#grants/grant-engine.js';
import { codeTtl } from '#grants/lifetimes.js';
import { UnredeemedGrantStore } from '#grants/records/unredeemed-grant.store.js';
import { BackgroundLoop } from '#platform/background-loop.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { lifetimesOf, TokenConfiguration } from '../token.configuration.js';

const INTERVALS = { pass: 1_000, retry: 1_000 } as const;
const BATCH = 100;

/** Voids the unredeemed codes of ended sessions, of every client. Several processes may void the same codes. */
@Injectable()
export class EndedSessionsService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop: BackgroundLoop;

  constructor(
    private readonly logouts: LogoutStore,
    private readonly unredeemed: UnredeemedGrantStore,
    private readonly engine: GrantEngine,
    private readonly configuration: TokenConfiguration,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    const logger = new Logger('logout');
    this.loop = new BackgroundLoop(
      () => this.pass(),
      INTERVALS,
      (reason) => logger.error(`codes of ended sessions are not void: ${reason}`),
    );
  }

  onApplicationBootstrap(): void {
    this.loop.run();
  }

  beforeApplicationShutdown(): void {
    this.loop.stop();
  }

  /** @param session undefined if all sessions of the user have ended */
  async voidCodes(session: string | undefined, userId: number | null, endedAt: Date): Promise<void> {
    const lifetimes = lifetimesOf(this.configuration);
    const codeMs = codeTtl(lifetimes) * 1000;
    if (this.clock() - endedAt.getTime() > 2 * codeMs) return;
    const ended = session === undefined ? { userId: userId ?? 0, at: endedAt } : { session };
    const since = new Date(endedAt.getTime() - codeMs);
    for (const { id, clientId } of await this.unredeemed.ofEndedSession(ended, since, lifetimes.clockSkew))
      await this.engine.voidCode(id, clientId);
  }

  private async pass(): Promise<void> {
    for (;;) {
      const recorded = await this.logouts.recorded(BATCH);
      for (const { session, userId, endedAt } of recorded)
        await this.voidCodes(session ?? undefined, userId, endedAt);
      if (recorded.length > 0) await this.logouts.forget(recorded.map(({ id }) => id));
      if (recorded.length < BATCH) return;
    }
  }
}
