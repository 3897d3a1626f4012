import { DEFAULT_LIFETIMES } from '#grants/lifetimes.js';
import type { EngineAnswer } from './engine-command.js';
import type { Event } from './history.js';
import { Monitor } from './monitor.js';
import type { Stage } from './stage.js';
import type { RedisState, Request } from './state-machine.js';

interface Pair {
  readonly generation: number;
  readonly rotatedAt: number;
  readonly accessToken: string;
  readonly refreshToken: string;
}

// The clocks of the processes stand apart, by less than the 5 s that are allowed.
const SKEWS = [0, 1_700, -1_900, 600];
const DISTURBING: readonly Event['do'][] = ['replay', 'replay-code', 'revoke', 'wipe', 'fall-back'];
/** How much sooner than the window's end a client must retry, for two clocks and a fraction of a second. */
const MARGIN_MS = 6_000;

/**
 * One grant of a history, its honest client, and those who are up to something; checks every answer. The promises:
 *
 * - every answer is explained by the state machine (the monitor);
 * - one generation has one pair, until Redis has lost writes;
 * - what is asked after a revocation was acknowledged is refused, except while Redis has fallen back to an old copy
 *   and the token apps have not yet applied the revocation again;
 * - the honest client is refused nothing.
 */
export class Actor {
  readonly #pairs: Pair[] = [];
  readonly #monitor: Monitor;
  #newest: Pair | undefined;
  /** When the honest client first tried the refresh of which it has no answer yet. */
  #tryingSince: number | undefined;
  /** Why the honest client may be refused by now. */
  #excuse: string | undefined;
  #losses = 0;
  #revoked = false;
  #fallenBack = 0;
  #copy: Record<string, string> = {};
  /** With single use, and before it has a refresh token, the client does one thing at a time. */
  #refreshing = false;
  /** How many requests more this round may send at once. */
  #room = 0;

  private constructor(
    private readonly stage: Stage,
    private readonly clientId: string,
    private readonly otherClientId: string,
    private readonly id: string,
    private readonly code: string,
    private readonly codeExpiry: number,
    createdAt: number,
  ) {
    const redis = { status: 'pending', generation: 0, rotatedAt: createdAt, client: true } as const;
    this.#monitor = new Monitor({ redis, revoked: false, losses: 0 });
  }

  /** The user allows: a grant begins. */
  static async allowed(stage: Stage, number: number, now: number): Promise<Actor> {
    const { clientIds, userId, fleet } = stage;
    const [clientId, other] = number % 2 === 0 ? clientIds : ([clientIds[1], clientIds[0]] as const);
    const { code, id } = await fleet.ask(number, { do: 'allow', now, clientId, userId });
    if (!code || !id) throw new Error('no code was given');
    const codeExpiry = (Math.floor(now / 1000) + DEFAULT_LIFETIMES.code) * 1000;
    return new Actor(stage, clientId, other, id, code, codeExpiry, now);
  }

  async act(event: Event, process: number, now: number): Promise<void> {
    if (this.#room < (event.do === 'fall-back' ? 2 : 1)) return;
    this.#room -= event.do === 'fall-back' ? 2 : 1;
    const pair = 'back' in event ? this.#pairs.at(-1 - event.back) : this.#newest;
    switch (event.do) {
      case 'refresh':
        return this.#goOn(process, now, event.places, event.lost);
      case 'use':
        return pair && this.#use(pair, process, now);
      case 'replay':
        // The thief's successor is one that the client does not know of.
        this.#excuse ??= 'a refresh token was replayed';
        return pair && void (await this.#refresh(pair, process, now, this.clientId));
      case 'replay-code':
        this.#excuse ??= 'the code was replayed';
        return void (await this.#redeem(process, now, this.clientId));
      case 'foreign':
        return void (pair
          ? await this.#refresh(pair, process, now, this.otherClientId)
          : await this.#redeem(process, now, this.otherClientId));
      case 'look':
        return pair && void (await this.#look(pair, process, now));
      case 'revoke':
        this.#excuse ??= 'the grant was revoked';
        await this.#ask({ do: 'revoke' }, () =>
          this.stage.fleet.ask(process, { do: 'revoke', now, id: this.id }),
        );
        this.#revoked = true;
        return;
      case 'copy':
        this.#copy = await this.stage.redis.hgetall(this.#key);
        return;
      case 'wipe':
        return this.#lose(null, {});
      case 'fall-back':
        return this.#fallBack(process, now);
    }
  }

  /** Begins a round. Orders of many requests around a loss or a revocation are too many to follow. */
  begin(events: readonly Event[]): void {
    this.#room = events.some((event) => DISTURBING.includes(event.do)) ? 4 : 10;
  }

  /** Ends a round. @throws Error when what was answered in it breaks a promise. */
  rest(): void {
    this.#monitor.explain();
    this.#refreshing = false;
  }

  get #key(): string {
    return `grant:${this.id}`;
  }

  /** The honest client: redeems its code once, and then refreshes what it has; a lost answer it retries. */
  async #goOn(process: number, now: number, places: number, lost: boolean): Promise<void> {
    const pair = this.#newest;
    const strict = this.stage.retryWindow === 0;
    if (strict || !pair) {
      if (this.#refreshing) return;
      this.#refreshing = true;
    }
    if (!pair) {
      if (this.#excuse) return;
      if (now > this.codeExpiry - MARGIN_MS) this.#excuse ??= 'the code was redeemed late';
      const answer = await this.#redeem(process, now, this.clientId);
      if (answer.outcome !== 'granted' && this.#losses > 0) this.#excuse ??= 'Redis lost the code';
      return this.#receive(answer, 'redeems the code');
    }
    this.#tryingSince ??= now;
    if (now - this.#tryingSince > this.stage.retryWindow * 1000 - MARGIN_MS && this.#tryingSince !== now)
      this.#excuse ??= 'the client retried late';
    if (now > pair.rotatedAt + DEFAULT_LIFETIMES.refreshToken * 1000 - MARGIN_MS)
      this.#excuse ??= 'the refresh token expired';
    const parallel = strict ? 1 : Math.min(places, this.#room + 1);
    this.#room -= parallel - 1;
    const answers = await Promise.all(
      Array.from({ length: parallel }, (_, n) => this.#refresh(pair, process + n, now, this.clientId)),
    );
    for (const answer of answers) {
      if (lost && !strict && answer.outcome === 'granted') continue;
      this.#receive(answer, `refreshes generation ${pair.generation}`);
    }
  }

  #receive(answer: EngineAnswer, doing: string): void {
    if (answer.outcome === 'unavailable') return;
    if (answer.outcome !== 'granted') {
      if (!this.#excuse) this.#fail(`the honest client ${doing} and is logged out: ${answer.outcome}`);
      return;
    }
    const pair = answer as EngineAnswer & Pair;
    if (this.#newest && pair.generation <= this.#newest.generation) return;
    this.#newest = pair;
    this.#tryingSince = undefined;
  }

  async #use(pair: Pair, process: number, now: number): Promise<void> {
    const { outcome } = await this.#look(pair, process, now);
    if (outcome === 'expired' || outcome === 'live' || outcome === 'unavailable' || this.#excuse) return;
    this.#fail(`the honest client's access token of generation ${pair.generation} is refused: ${outcome}`);
  }

  async #redeem(process: number, now: number, clientId: string): Promise<EngineAnswer> {
    const at = now + skew(process);
    const expired = at > this.codeExpiry + DEFAULT_LIFETIMES.clockSkew * 1000;
    const request: Request = { do: 'redeem', ours: clientId === this.clientId, now: at, expired };
    return this.#ask(request, () =>
      this.stage.fleet.ask(process, { do: 'redeem', now: at, code: this.code, clientId }),
    );
  }

  async #refresh(pair: Pair, process: number, now: number, clientId: string): Promise<EngineAnswer> {
    const at = now + skew(process);
    const send = () =>
      this.stage.fleet.ask(process, { do: 'refresh', now: at, token: pair.refreshToken, clientId });
    const issuedAt = wholeSeconds(pair.rotatedAt);
    if (at > issuedAt + (DEFAULT_LIFETIMES.refreshToken + DEFAULT_LIFETIMES.clockSkew) * 1000)
      return this.#expectExpired(send);
    const window = this.stage.retryWindow * 1000;
    const { generation } = pair;
    const ours = clientId === this.clientId;
    return this.#ask({ do: 'refresh', ours, now: at, window, generation, issuedAt }, send);
  }

  async #look(pair: Pair, process: number, now: number): Promise<EngineAnswer> {
    const at = now + skew(process);
    const send = () => this.stage.fleet.ask(process, { do: 'look', now: at, token: pair.accessToken });
    const issuedAt = wholeSeconds(pair.rotatedAt);
    if (at > issuedAt + (DEFAULT_LIFETIMES.accessToken + DEFAULT_LIFETIMES.clockSkew) * 1000)
      return this.#expectExpired(send);
    return this.#ask({ do: 'look', generation: pair.generation, issuedAt }, send);
  }

  async #expectExpired(send: () => Promise<EngineAnswer>): Promise<EngineAnswer> {
    const answer = await send();
    if (answer.outcome !== 'expired') this.#fail(`an expired token is answered ${answer.outcome}`);
    return answer;
  }

  async #ask(request: Request, send: () => Promise<EngineAnswer>): Promise<EngineAnswer> {
    const mustBeRefused = this.#revoked && this.#fallenBack === 0;
    const lossesBefore = this.#losses;
    const number = this.#monitor.asked(request);
    const answer = await send();
    const { outcome, generation, rotatedAt } = answer;
    const isLive = outcome === 'granted' || outcome === 'live';
    this.#monitor.answered(number, isLive ? `${outcome} ${generation} ${rotatedAt}` : outcome);
    if (isLive && mustBeRefused && this.#fallenBack === 0 && lossesBefore === this.#losses)
      this.#fail('a token is alive after its revocation');
    if (outcome === 'code_replayed' || outcome === 'refresh_token_reused') this.#revoked = true;
    if (outcome === 'granted') this.#keep(answer as EngineAnswer & Pair);
    return answer;
  }

  #keep(pair: Pair): void {
    const twin = this.#pairs.find(({ generation }) => generation === pair.generation);
    const same = twin?.refreshToken === pair.refreshToken && twin.accessToken === pair.accessToken;
    if (twin && !same && this.#losses === 0)
      this.#fail(`generation ${pair.generation} has two different pairs`);
    if (!same) this.#pairs.push(pair);
  }

  async #fallBack(process: number, now: number): Promise<void> {
    const { status, generation, rotated_at: rotatedAt, client } = this.#copy;
    // A copy without the grant is as good as a wipe.
    if (status === undefined) return this.#lose(null, {});
    const left = {
      status: status as 'pending',
      generation: Number(generation ?? 0),
      rotatedAt: Number(rotatedAt ?? 0),
      client: client !== undefined,
    };
    this.#fallenBack++;
    await this.#lose(left, this.#copy);
    await this.#ask({ do: 'replay-revocation' }, () =>
      this.stage.fleet.ask(process, { do: 'replay-revocation', now, id: this.id }),
    );
    this.#fallenBack--;
  }

  async #lose(left: RedisState, hash: Record<string, string>): Promise<void> {
    this.#losses++;
    await this.#ask({ do: 'lose', left }, async () => {
      const transaction = this.stage.redis.multi().del(this.#key);
      if (left) transaction.hset(this.#key, hash).expire(this.#key, 3600);
      await transaction.exec();
      return { outcome: 'done' };
    });
  }

  #fail(what: string): never {
    throw new Error(`${what}\n${this.#monitor.log}`);
  }
}

function skew(process: number): number {
  return SKEWS[process % SKEWS.length] ?? 0;
}

function wholeSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000) * 1000;
}
