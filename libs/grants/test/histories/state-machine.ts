/** What Redis holds of a grant; null when it holds nothing. */
export type RedisState = {
  readonly status: 'pending' | 'active' | 'revoked';
  readonly generation: number;
  readonly rotatedAt: number;
  /** False for the tombstone of a grant that Redis had lost before: it does not know whose it was. */
  readonly client: boolean;
} | null;

/** Everything that decides about one grant. */
export interface State {
  readonly redis: RedisState;
  /** Whether the record in PostgreSQL says revoked. */
  readonly revoked: boolean;
  /** How often Redis has lost something. */
  readonly losses: number;
}

/** A request on one grant, and what the state machine must know of it. Times in milliseconds. */
export type Request =
  | { readonly do: 'redeem'; readonly ours: boolean; readonly now: number; readonly expired: boolean }
  | {
      readonly do: 'refresh';
      readonly ours: boolean;
      readonly now: number;
      readonly window: number;
      readonly generation: number;
      readonly issuedAt: number;
    }
  | { readonly do: 'introspect'; readonly generation: number; readonly issuedAt: number }
  | { readonly do: 'revoke' }
  | { readonly do: 'replay-revocation' }
  /** Redis has this from now on: it lost its last writes, or everything. */
  | { readonly do: 'lose'; readonly left: RedisState };

/** How far a request has come. Each phase is one atomic step on Redis or on PostgreSQL; `done` has the answer. */
export interface Progress {
  readonly phase: 'try' | 'miss' | 'find' | 'put back' | 'record' | 'tombstone' | 'done';
  /** Empty until it is certain. */
  readonly answer: string;
  /** How often Redis had lost something when this request missed the grant there. */
  readonly losses?: number;
}

type Step = readonly [Progress, State];

const done = (answer: string): Progress => ({ phase: 'done', answer });
const active = (generation: number, rotatedAt: number): RedisState => ({
  status: 'active',
  generation,
  rotatedAt,
  client: true,
});

export function begin(request: Request): Progress {
  if (request.do === 'revoke') return { phase: 'record', answer: 'done' };
  if (request.do === 'replay-revocation') return { phase: 'find', answer: 'done' };
  return { phase: 'try', answer: '' };
}

/** A second implementation of the grant's state machine (docs/adr/0003): the next atomic step of a request. */
export function step(request: Request, progress: Progress, state: State): Step {
  const { phase, answer } = progress;
  switch (phase) {
    case 'try':
      return transition(request, state);
    case 'miss':
      return [
        state.redis ? { phase: 'try', answer } : { phase: 'find', answer, losses: state.losses },
        state,
      ];
    case 'find':
      if (request.do === 'replay-revocation') {
        return [state.revoked ? { phase: 'tombstone', answer } : done(answer), state];
      }
      return [state.revoked ? done('revoked') : { ...progress, phase: 'put back' }, state];
    case 'put back': {
      // What was lost in between may have been a revocation that the record did not show yet.
      if (state.redis || state.losses !== progress.losses) return [{ phase: 'try', answer }, state];
      const { generation, issuedAt } = request as Request & { do: 'introspect' };
      return [
        { phase: 'try', answer },
        { ...state, redis: active(generation, issuedAt) },
      ];
    }
    case 'record':
      return [
        { phase: 'tombstone', answer },
        { ...state, revoked: true },
      ];
    case 'tombstone':
      return [done(answer), { ...state, redis: buried(state.redis) }];
    default:
      return [done(answer), state];
  }
}

function transition(request: Request, state: State): Step {
  const { redis } = state;
  const unchanged = (answer: string): Step => [done(answer), state];
  const granted = (generation: number, rotatedAt: number): Step => [
    done(`granted ${generation} ${rotatedAt}`),
    { ...state, redis: active(generation, rotatedAt) },
  ];
  if (request.do === 'lose')
    return [done('done'), { ...state, redis: request.left, losses: state.losses + 1 }];
  if (!redis) return request.do === 'redeem' ? unchanged('expired') : [{ phase: 'miss', answer: '' }, state];
  if (request.do !== 'introspect' && redis.client && !('ours' in request && request.ours))
    return unchanged('other_client');
  if (redis.status === 'revoked') return unchanged('revoked');
  switch (request.do) {
    case 'redeem':
      if (redis.status === 'active') return [{ phase: 'record', answer: 'code_replayed' }, state];
      return request.expired ? unchanged('expired') : granted(1, request.now);
    case 'refresh':
      if (request.generation >= redis.generation) return granted(request.generation + 1, request.now);
      // Clocks differ: the rotation may lie in the future, which must not open a window that is turned off.
      if (
        request.generation === redis.generation - 1 &&
        request.window > 0 &&
        request.now - redis.rotatedAt < request.window
      )
        return unchanged(`granted ${redis.generation} ${redis.rotatedAt}`);
      return [{ phase: 'record', answer: 'refresh_token_reused' }, state];
    case 'introspect': {
      const { generation, issuedAt } = request;
      if (generation <= redis.generation) return unchanged(`active ${redis.generation} ${redis.rotatedAt}`);
      return [done(`active ${generation} ${issuedAt}`), { ...state, redis: active(generation, issuedAt) }];
    }
    default:
      throw new Error(`a ${request.do} is not tried`);
  }
}

function buried(redis: RedisState): RedisState {
  return redis
    ? { ...redis, status: 'revoked' }
    : { status: 'revoked', generation: 0, rotatedAt: 0, client: false };
}
