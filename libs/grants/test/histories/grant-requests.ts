import { DEFAULT_LIFETIMES } from '#grants/lifetimes.js';
import { withFullNames } from '#test/support/stored.js';
import type { EngineAnswer } from './engine-process.js';
import type { HistoryEnvironment } from './history-fixture.js';
import type { RedisState } from './state-machine.js';
import { type Pair, InvariantChecker } from './invariant-checker.js';

// Clock differences in milliseconds, less than the permitted 5 s.
const SKEWS = [0, 1_700, -1_900, 600];

/** Requests and data losses of one grant, each checked by an InvariantChecker. */
export class GrantRequests {
  readonly checker: InvariantChecker;
  private saved: Record<string, string> = {};

  private constructor(
    private readonly environment: HistoryEnvironment,
    readonly clientId: string,
    readonly otherClientId: string,
    private readonly id: string,
    private readonly code: string,
    /** Milliseconds since the epoch, like all times here. */
    readonly codeExpiry: number,
    createdAt: number,
  ) {
    this.checker = new InvariantChecker(createdAt);
  }

  static async allowed(environment: HistoryEnvironment, number: number, now: number): Promise<GrantRequests> {
    const { clientIds, userId, fleet } = environment;
    const [clientId, other] = number % 2 === 0 ? clientIds : ([clientIds[1], clientIds[0]] as const);
    const { code, id } = await fleet.send(number, { do: 'allow', now, clientId, userId });
    if (!code || !id) throw new Error('no code was issued');
    const codeExpiry = (Math.floor(now / 1000) + DEFAULT_LIFETIMES.code) * 1000;
    return new GrantRequests(environment, clientId, other, id, code, codeExpiry, now);
  }

  redeem(process: number, now: number, clientId = this.clientId): Promise<EngineAnswer> {
    const at = now + skew(process);
    const expired = at > this.codeExpiry + DEFAULT_LIFETIMES.clockSkew * 1000;
    return this.checker.see({ do: 'redeem', isOwner: clientId === this.clientId, now: at, expired }, () =>
      this.environment.fleet.send(process, { do: 'redeem', now: at, code: this.code, clientId }),
    );
  }

  async refresh(pair: Pair, process: number, now: number, clientId = this.clientId): Promise<EngineAnswer> {
    const at = now + skew(process);
    const send = () =>
      this.environment.fleet.send(process, { do: 'refresh', now: at, token: pair.refreshToken, clientId });
    const issuedAt = wholeSeconds(pair.rotatedAt);
    if (isExpired(issuedAt, DEFAULT_LIFETIMES.refreshToken, at)) return this.expired(send);
    const [window, isOwner] = [this.environment.retryWindow * 1000, clientId === this.clientId];
    const { generation } = pair;
    return this.checker.see({ do: 'refresh', isOwner, now: at, window, generation, issuedAt }, send);
  }

  async introspect(pair: Pair, process: number, now: number): Promise<EngineAnswer> {
    const at = now + skew(process);
    const send = () =>
      this.environment.fleet.send(process, { do: 'introspect', now: at, token: pair.accessToken });
    const issuedAt = wholeSeconds(pair.rotatedAt);
    if (isExpired(issuedAt, DEFAULT_LIFETIMES.accessToken, at)) return this.expired(send);
    return this.checker.see({ do: 'introspect', generation: pair.generation, issuedAt }, send);
  }

  async revoke(process: number, now: number): Promise<void> {
    await this.checker.see({ do: 'revoke' }, () =>
      this.environment.fleet.send(process, { do: 'revoke', now, id: this.id }),
    );
  }

  async copy(): Promise<void> {
    this.saved = await this.environment.redis.hgetall(this.key);
  }

  wipe(): Promise<void> {
    return this.lose(null, {});
  }

  /** Restores the copy in Redis. A token app that connects then applies the revocations again. */
  async fallBack(process: number, now: number): Promise<void> {
    const { status, generation, rotatedAt, client } = withFullNames(this.saved);
    // A copy without the grant is a wipe. Histories have no devices, so no copy contains a requested grant.
    if (status === undefined || status === 'requested') return this.wipe();
    const left = {
      status,
      generation: Number(generation ?? 0),
      rotatedAt: Number(rotatedAt ?? 0),
      client: client !== undefined,
    };
    await this.checker.whileFallenBack(async () => {
      await this.lose(left, this.saved);
      await this.checker.see({ do: 'replay-revocation' }, () =>
        this.environment.fleet.send(process, { do: 'replay-revocation', now, id: this.id }),
      );
    });
  }

  private get key(): string {
    return `grant:${this.id}`;
  }

  private async lose(left: RedisState, hash: Record<string, string>): Promise<void> {
    await this.checker.see({ do: 'lose', left }, async () => {
      const transaction = this.environment.redis.multi().del(this.key);
      if (left) transaction.hset(this.key, hash).expire(this.key, 3600);
      await transaction.exec();
      return { outcome: 'done' };
    });
  }

  private async expired(send: () => Promise<EngineAnswer>): Promise<EngineAnswer> {
    const answer = await send();
    if (answer.outcome !== 'expired') this.checker.fail(`an expired token got ${answer.outcome}`);
    return answer;
  }
}

function isExpired(issuedAt: number, lifetime: number, at: number): boolean {
  return at > issuedAt + (lifetime + DEFAULT_LIFETIMES.clockSkew) * 1000;
}

function skew(process: number): number {
  return SKEWS[process % SKEWS.length] ?? 0;
}

function wholeSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000) * 1000;
}
