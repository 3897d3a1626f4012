import { DEFAULT_LIFETIMES } from '#grants/lifetimes.js';
import type { EngineAnswer } from './engine-process.js';
import type { GrantRequests } from './grant-requests.js';
import type { Event } from './history-fixture.js';
import type { Pair } from './invariant-checker.js';

const DISTURBING: readonly Event['do'][] = ['replay', 'replay-code', 'revoke', 'wipe', 'fall-back'];
/** Milliseconds before a deadline from which a refusal is permitted, because of clock skew and rounding. */
const MARGIN_MS = 6_000;

/** Honest client of a grant, which may be refused only for a permitted reason, and the attackers of this client. */
export class Actor {
  private newest: Pair | undefined;
  private tryingSince: number | undefined;
  private permittedRefusal: string | undefined;
  /** True after the start of a redemption or a single-use refresh, of which a round may contain only one. */
  private refreshing = false;
  private room = 0;

  /** @param retryWindow seconds */
  constructor(
    private readonly grant: GrantRequests,
    private readonly retryWindow: number,
  ) {}

  /**
   * Begins a round. Allows fewer requests if the round contains a loss, a revocation or a replay, which multiply the
   * possible orders.
   */
  begin(events: readonly Event[]): void {
    this.room = events.some((event) => DISTURBING.includes(event.do)) ? 4 : 10;
  }

  rest(): void {
    this.grant.checker.explain();
    this.refreshing = false;
  }

  async act(event: Event, process: number, now: number): Promise<unknown> {
    const requests = event.do === 'fall-back' ? 2 : 1;
    if (this.room < requests) return undefined;
    this.room -= requests;
    const { grant } = this;
    const pair = 'back' in event ? grant.checker.pairs.at(-1 - event.back) : this.newest;
    switch (event.do) {
      case 'refresh':
        return this.advance(process, now, event.places, event.lost);
      case 'use':
        return pair && this.use(pair, process, now);
      case 'replay':
        // The thief may get the successor before the honest client does.
        this.permittedRefusal ??= 'a refresh token was replayed';
        return pair && grant.refresh(pair, process, now);
      case 'replay-code':
        this.permittedRefusal ??= 'the code was replayed';
        return grant.redeem(process, now);
      case 'foreign':
        return pair
          ? grant.refresh(pair, process, now, grant.otherClientId)
          : grant.redeem(process, now, grant.otherClientId);
      case 'introspect':
        return pair && grant.introspect(pair, process, now);
      case 'revoke':
        this.permittedRefusal ??= 'the grant was revoked';
        return grant.revoke(process, now);
      case 'copy':
        return grant.copy();
      case 'wipe':
        return grant.wipe();
      default:
        return grant.fallBack(process, now);
    }
  }

  private async advance(process: number, now: number, places: number, lost: boolean): Promise<void> {
    const pair = this.newest;
    const strict = this.retryWindow === 0;
    if (strict || !pair) {
      if (this.refreshing) return;
      this.refreshing = true;
    }
    if (!pair) return this.redeem(process, now);
    this.tryingSince ??= now;
    if (now !== this.tryingSince && now - this.tryingSince > this.retryWindow * 1000 - MARGIN_MS)
      this.permittedRefusal ??= 'the client retried late';
    if (now > pair.rotatedAt + DEFAULT_LIFETIMES.refreshToken * 1000 - MARGIN_MS)
      this.permittedRefusal ??= 'the refresh token expired';
    const parallel = strict ? 1 : Math.min(places, this.room + 1);
    this.room -= parallel - 1;
    const answers = await Promise.all(
      Array.from({ length: parallel }, (_, n) => this.grant.refresh(pair, process + n, now)),
    );
    for (const answer of answers) {
      if (lost && !strict && answer.outcome === 'granted') continue;
      this.receive(answer, `refreshes generation ${pair.generation}`);
    }
  }

  private async redeem(process: number, now: number): Promise<void> {
    if (this.permittedRefusal) return;
    if (now > this.grant.codeExpiry - MARGIN_MS) this.permittedRefusal ??= 'the code was redeemed late';
    const answer = await this.grant.redeem(process, now);
    // A lost code cannot be restored.
    if (answer.outcome !== 'granted' && this.grant.checker.hasLost)
      this.permittedRefusal ??= 'Redis lost the code';
    this.receive(answer, 'redeems the code');
  }

  private receive(answer: EngineAnswer, doing: string): void {
    if (answer.outcome === 'unavailable') return;
    if (answer.outcome !== 'granted') {
      if (!this.permittedRefusal)
        this.grant.checker.fail(`the honest client ${doing} and is logged out: ${answer.outcome}`);
      return;
    }
    const pair = answer as EngineAnswer & Pair;
    if (this.newest && pair.generation <= this.newest.generation) return;
    this.newest = pair;
    this.tryingSince = undefined;
  }

  private async use(pair: Pair, process: number, now: number): Promise<void> {
    const { outcome } = await this.grant.introspect(pair, process, now);
    if (['expired', 'active', 'unavailable'].includes(outcome) || this.permittedRefusal) return;
    this.grant.checker.fail(
      `the honest client's access token of generation ${pair.generation} is refused: ${outcome}`,
    );
  }
}
