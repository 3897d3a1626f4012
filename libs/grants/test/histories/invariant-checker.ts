import { begin, type Progress, type Request, type State, step } from './state-machine.js';
import type { EngineAnswer } from './engine-process.js';

/** A request with its response. Equal exchanges are interchangeable, which limits the number of orders. */
interface Exchange {
  readonly request: Request;
  readonly answer: string;
}

interface Crowd {
  readonly kind: string;
  readonly progress: Progress;
  readonly size: number;
}

interface Possibility {
  readonly state: State;
  readonly open: ReadonlyMap<string, Crowd>;
}

/**
 * Linearizability checker of one grant. Searches for an order of the steps of concurrent requests in which the state
 * machine gives the observed responses. A request that began after the response to another request must come later. If
 * no such order exists, the history is wrong.
 */
export class Monitor {
  private readonly requests: Request[] = [];
  private readonly answers: string[] = [];
  private readonly lines: string[] = [];
  private events: { readonly id: number; readonly asks: boolean }[] = [];
  private possible: Possibility[];

  constructor(initial: State) {
    this.possible = [{ state: initial, open: new Map() }];
  }

  /** Records a request. @returns the number to pass to `end` */
  begin(request: Request): number {
    const id = this.requests.push(request) - 1;
    this.events.push({ id, asks: true });
    this.lines.push(`#${id} asks ${JSON.stringify(request)}`);
    return id;
  }

  end(id: number, answer: string): void {
    this.answers[id] = answer;
    this.events.push({ id, asks: false });
    this.lines.push(`#${id} gets ${answer}`);
  }

  /** Must be called after the responses to all requests. @throws Error with the history if no order explains it */
  explain(): void {
    const exchanges = new Map<string, Exchange>();
    const kinds = this.requests.map((request, id) => {
      const answer = this.answers[id] ?? '';
      const kind = `${JSON.stringify(request)} ${answer}`;
      if (this.events.some((event) => event.id === id)) exchanges.set(kind, { request, answer });
      return kind;
    });
    for (const { id, asks } of this.events) {
      const kind = kinds[id] ?? '';
      const exchange = exchanges.get(kind);
      if (!exchange) continue;
      if (asks) {
        const progress = begin(exchange.request);
        this.possible = this.possible.map(({ state, open }) => ({
          state,
          open: moved(open, { kind, progress }, 1),
        }));
        continue;
      }
      const all = explore(this.possible, exchanges);
      this.possible = all.flatMap(({ state, open }) => {
        const ended = [...open.values()].find((crowd) => crowd.kind === kind && isOver(crowd, exchanges));
        return ended ? [{ state, open: moved(open, ended, -1) }] : [];
      });
      if (this.possible.length === 0) throw new Error(this.unexplained(id, all));
    }
    this.events = [];
  }

  get log(): string {
    return this.lines.join('\n');
  }

  private unexplained(id: number, possibilities: readonly Possibility[]): string {
    const states = new Set(possibilities.map(({ state }) => JSON.stringify(state)));
    return `no order of the requests explains the answer of #${id}:\n${this.log}\npossible states before it:\n${[...states].join('\n')}`;
  }
}

function explore(
  possible: readonly Possibility[],
  exchanges: ReadonlyMap<string, Exchange>,
): readonly Possibility[] {
  const found = new Map(possible.map((possibility) => [keyOf(possibility), possibility]));
  const queue = [...found.values()];
  for (let next = queue.pop(); next; next = queue.pop()) {
    for (const successor of successors(next, exchanges)) {
      const key = keyOf(successor);
      if (found.has(key)) continue;
      found.set(key, successor);
      queue.push(successor);
    }
  }
  return [...found.values()];
}

function successors({ state, open }: Possibility, exchanges: ReadonlyMap<string, Exchange>): Possibility[] {
  const result: Possibility[] = [];
  // Unless a request revokes or loses the grant, finding that it is missing and restoring it count as one step.
  const quiet = ![...exchanges.values()].some(disturbs);
  const losing = [...exchanges.values()].some(({ request }) => request.do === 'lose');
  for (const crowd of open.values()) {
    const exchange = exchanges.get(crowd.kind);
    if (!exchange || crowd.progress.phase === 'done') continue;
    const advance = quiet ? untilRestored : step;
    const [progress, changed] = advance(exchange.request, crowd.progress, state);
    if (progress.answer !== '' && progress.answer !== exchange.answer) continue;
    const moves = moved(moved(open, crowd, -1), { kind: crowd.kind, progress }, 1);
    // A step that only ends a request can come first, unless a loss could change its result.
    if (!losing && progress.phase === 'done' && changed === state) return [{ state, open: moves }];
    result.push({ state: changed, open: moves });
  }
  return result;
}

function untilRestored(...[request, from, before]: Parameters<typeof step>): ReturnType<typeof step> {
  let [progress, state] = step(request, from, before);
  while (!['try', 'done'].includes(progress.phase)) [progress, state] = step(request, progress, state);
  return [progress, state];
}

function disturbs({ request, answer }: Exchange): boolean {
  return (
    ['revoke', 'replay-revocation', 'lose'].includes(request.do) ||
    ['code_replayed', 'refresh_token_reused', 'unavailable'].includes(answer)
  );
}

function moved(
  open: ReadonlyMap<string, Crowd>,
  { kind, progress }: Omit<Crowd, 'size'>,
  by: number,
): ReadonlyMap<string, Crowd> {
  const key = `${kind} ${progress.phase} ${progress.answer} ${progress.losses}`;
  const size = (open.get(key)?.size ?? 0) + by;
  const result = new Map(open);
  if (size > 0) result.set(key, { kind, progress, size });
  else result.delete(key);
  return result;
}

/**
 * Returns true if a request has ended. `unavailable` ends a request while Redis loses grants faster than the engine
 * restores them.
 */
function isOver({ kind, progress }: Crowd, exchanges: ReadonlyMap<string, Exchange>): boolean {
  return progress.phase === (exchanges.get(kind)?.answer === 'unavailable' ? 'miss' : 'done');
}

function keyOf({ state: { redis, revoked, losses }, open }: Possibility): string {
  const place = redis ? `${redis.status} ${redis.generation} ${redis.rotatedAt} ${redis.client}` : 'nothing';
  const crowds = [...open].map(([key, { size }]) => `${key} ${size}`).sort();
  return `${place} ${revoked} ${losses}|${crowds.join('|')}`;
}

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
