/** Grant in Redis; null if Redis does not have it. */
export type RedisState = {
  readonly status: 'pending' | 'active' | 'revoked';
  readonly generation: number;
  readonly rotatedAt: number;
  /** False for the tombstone of a grant that Redis had lost, which does not contain the client. */
  readonly client: boolean;
} | null;

export interface State {
  readonly redis: RedisState;
  readonly revoked: boolean;
  readonly losses: number;
}

/** Request on a grant. Times are in milliseconds. */
export type Request =
  | { readonly do: 'redeem'; readonly isOwner: boolean; readonly now: number; readonly expired: boolean }
  | {
      readonly do: 'refresh';
      readonly isOwner: boolean;
      readonly now: number;
      readonly window: number;
      readonly generation: number;
      readonly issuedAt: number;
    }
  | { readonly do: 'introspect'; readonly generation: number; readonly issuedAt: number }
  | { readonly do: 'revoke' }
  | { readonly do: 'replay-revocation' }
  /** Redis loses its last writes or everything; `left` remains. */
  | { readonly do: 'lose'; readonly left: RedisState };

/** Each phase is one atomic step on Redis or PostgreSQL; `done` contains the response. */
export interface Progress {
  readonly phase: 'try' | 'miss' | 'find' | 'restore' | 'record' | 'tombstone' | 'done';
  /** Empty while unknown. */
  readonly answer: string;
  /** Number of losses in Redis at the time when this request missed the grant. */
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

/**
 * Runs the next atomic step of a request. Second implementation of the state machine
 * (docs/adr/0003-grant-as-one-key.md).
 */
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
      return [state.revoked ? done('revoked') : { ...progress, phase: 'restore' }, state];
    case 'restore': {
      // Redis may have lost a revocation that the record did not show yet.
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
  if (request.do !== 'introspect' && redis.client && !('isOwner' in request && request.isOwner))
    return unchanged('other_client');
  if (redis.status === 'revoked') return unchanged('revoked');
  switch (request.do) {
    case 'redeem':
      if (redis.status === 'active') return [{ phase: 'record', answer: 'code_replayed' }, state];
      return request.expired ? unchanged('expired') : granted(1, request.now);
    case 'refresh':
      if (request.generation >= redis.generation) return granted(request.generation + 1, request.now);
      // A rotation in the future, because of clock skew, must not open a disabled retry window.
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
