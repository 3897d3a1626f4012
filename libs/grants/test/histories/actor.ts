import { DEFAULT_LIFETIMES } from '#grants/lifetimes.js';
import type { EngineAnswer } from './engine-command.js';
import type { GrantRequests } from './grant-requests.js';
import type { Event } from './history.js';
import type { Pair } from './witness.js';

const DISTURBING: readonly Event['do'][] = ['replay', 'replay-code', 'revoke', 'wipe', 'fall-back'];
/** How much sooner than the window's end a client must retry, for two clocks and a fraction of a second. */
const MARGIN_MS = 6_000;

/** The honest client of one grant, which must be refused nothing, and those who are up to something. */
export class Actor {
  private newest: Pair | undefined;
  /** When the honest client first tried the refresh of which it has no answer yet. */
  private tryingSince: number | undefined;
  /** Why the honest client may be refused by now. */
  private excuse: string | undefined;
  /** With single use, and before it has a refresh token, the client does one thing at a time. */
  private refreshing = false;
  /** How many requests more this round may send at once. */
  private room = 0;

  /** @param retryWindow in seconds */
  constructor(
    private readonly grant: GrantRequests,
    private readonly retryWindow: number,
  ) {}

  /** Begins a round. Orders of many requests around a loss or a revocation are too many to follow. */
  begin(events: readonly Event[]): void {
    this.room = events.some((event) => DISTURBING.includes(event.do)) ? 4 : 10;
  }

  /** Ends a round. @throws Error when what was answered in it breaks a promise. */
  rest(): void {
    this.grant.witness.explain();
    this.refreshing = false;
  }

  async act(event: Event, process: number, now: number): Promise<unknown> {
    const requests = event.do === 'fall-back' ? 2 : 1;
    if (this.room < requests) return undefined;
    this.room -= requests;
    const { grant } = this;
    const pair = 'back' in event ? grant.witness.pairs.at(-1 - event.back) : this.newest;
    switch (event.do) {
      case 'refresh':
        return this.goOn(process, now, event.places, event.lost);
      case 'use':
        return pair && this.use(pair, process, now);
      case 'replay':
        // The thief's successor is one that the client does not know of.
        this.excuse ??= 'a refresh token was replayed';
        return pair && grant.refresh(pair, process, now);
      case 'replay-code':
        this.excuse ??= 'the code was replayed';
        return grant.redeem(process, now);
      case 'foreign':
        return pair
          ? grant.refresh(pair, process, now, grant.otherClientId)
          : grant.redeem(process, now, grant.otherClientId);
      case 'introspect':
        return pair && grant.introspect(pair, process, now);
      case 'revoke':
        this.excuse ??= 'the grant was revoked';
        return grant.revoke(process, now);
      case 'copy':
        return grant.copy();
      case 'wipe':
        return grant.wipe();
      default:
        return grant.fallBack(process, now);
    }
  }

  /** The honest client: redeems its code once, and then refreshes what it has; a lost answer it retries. */
  private async goOn(process: number, now: number, places: number, lost: boolean): Promise<void> {
    const pair = this.newest;
    const strict = this.retryWindow === 0;
    if (strict || !pair) {
      if (this.refreshing) return;
      this.refreshing = true;
    }
    if (!pair) return this.redeem(process, now);
    this.tryingSince ??= now;
    if (now !== this.tryingSince && now - this.tryingSince > this.retryWindow * 1000 - MARGIN_MS)
      this.excuse ??= 'the client retried late';
    if (now > pair.rotatedAt + DEFAULT_LIFETIMES.refreshToken * 1000 - MARGIN_MS)
      this.excuse ??= 'the refresh token expired';
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
    if (this.excuse) return;
    if (now > this.grant.codeExpiry - MARGIN_MS) this.excuse ??= 'the code was redeemed late';
    const answer = await this.grant.redeem(process, now);
    // A code is never restored.
    if (answer.outcome !== 'granted' && this.grant.witness.hasLost) this.excuse ??= 'Redis lost the code';
    this.receive(answer, 'redeems the code');
  }

  private receive(answer: EngineAnswer, doing: string): void {
    if (answer.outcome === 'unavailable') return;
    if (answer.outcome !== 'granted') {
      if (!this.excuse)
        this.grant.witness.fail(`the honest client ${doing} and is logged out: ${answer.outcome}`);
      return;
    }
    const pair = answer as EngineAnswer & Pair;
    if (this.newest && pair.generation <= this.newest.generation) return;
    this.newest = pair;
    this.tryingSince = undefined;
  }

  private async use(pair: Pair, process: number, now: number): Promise<void> {
    const { outcome } = await this.grant.introspect(pair, process, now);
    if (['expired', 'active', 'unavailable'].includes(outcome) || this.excuse) return;
    this.grant.witness.fail(
      `the honest client's access token of generation ${pair.generation} is refused: ${outcome}`,
    );
  }
}
