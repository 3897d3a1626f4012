import type { EngineAnswer } from './engine-command.js';
import { Monitor } from './monitor.js';
import type { Request } from './state-machine.js';

export interface Pair {
  readonly generation: number;
  readonly rotatedAt: number;
  readonly accessToken: string;
  readonly refreshToken: string;
}

/**
 * Checks the invariants of a grant on every request:
 *
 * - the state machine explains every response (checked by the monitor);
 * - a generation has one pair, until Redis has lost writes;
 * - requests after an acknowledged revocation are refused, except between a fallback of Redis to an old copy and the
 *   reapplication of the revocation by the token apps.
 */
export class InvariantChecker {
  readonly pairs: Pair[] = [];
  private readonly monitor: Monitor;
  private losses = 0;
  private revoked = false;
  private fallenBack = 0;
  private fallBacks = 0;

  /** @param createdAt milliseconds since the epoch */
  constructor(createdAt: number) {
    const redis = { status: 'pending', generation: 0, rotatedAt: createdAt, client: true } as const;
    this.monitor = new Monitor({ redis, revoked: false, losses: 0 });
  }

  get hasLost(): boolean {
    return this.losses > 0;
  }

  /** Sends a request. @throws Error if the response breaks an invariant */
  async see(request: Request, send: () => Promise<EngineAnswer>): Promise<EngineAnswer> {
    const mustBeRefused = this.revoked && this.fallenBack === 0;
    const fallBacksBefore = this.fallBacks;
    if (request.do === 'lose') this.losses++;
    const number = this.monitor.begin(request);
    const answer = await send();
    const { outcome, generation, rotatedAt } = answer;
    const isLive = outcome === 'granted' || outcome === 'active';
    this.monitor.end(number, isLive ? `${outcome} ${generation} ${rotatedAt}` : outcome);
    if (isLive && mustBeRefused && fallBacksBefore === this.fallBacks)
      this.fail('a token is alive after its revocation');
    const ended = request.do === 'revoke' && outcome === 'done';
    this.revoked ||= ended || outcome === 'code_replayed' || outcome === 'refresh_token_reused';
    if (outcome === 'granted') this.keep(answer as EngineAnswer & Pair);
    return answer;
  }

  /** @param run falls back to the copy, and resolves after the token apps have applied the revocations again */
  async whileFallenBack(run: () => Promise<unknown>): Promise<void> {
    this.fallBacks++;
    this.fallenBack++;
    await run();
    this.fallenBack--;
  }

  /**
   * Must be called after the responses to all requests.
   * @throws Error if the state machine does not explain the responses
   */
  explain(): void {
    this.monitor.explain();
  }

  fail(what: string): never {
    throw new Error(`${what}\n${this.monitor.log}`);
  }

  private keep(pair: Pair): void {
    const twins = this.pairs.filter(({ generation }) => generation === pair.generation);
    const known = twins.some(
      ({ refreshToken, accessToken }) =>
        refreshToken === pair.refreshToken && accessToken === pair.accessToken,
    );
    if (twins.length > 0 && !known && !this.hasLost)
      this.fail(`generation ${pair.generation} has two different pairs`);
    if (!known) this.pairs.push(pair);
  }
}
