import { randomUUID } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import { GrantStoreUnavailableError } from './grant-store-unavailable.error.js';
import type { ObserveTransition } from './grant-transition.js';
import type {
  ActiveGrant,
  KeyRefusal,
  PendingGrant,
  Redemption,
  Renewal,
  Refusal,
  RefusalReason,
} from './grant.js';
import { CREATE } from './scripts/create.script.js';
import { LOOK } from './scripts/look.script.js';
import { MISS } from './scripts/miss.script.js';
import { REDEEM } from './scripts/redeem.script.js';
import { REFRESH } from './scripts/refresh.script.js';
import { RESTORE } from './scripts/restore.script.js';
import { REVOKE, REVOKE_OF } from './scripts/revoke.script.js';
import type { Token } from './token-codec.js';

/** The Redis client the grant store works on. */
export type GrantRedis = Redis | Cluster;

type Script = (...args: (string | number)[]) => Promise<unknown>;
type Scripts = Record<
  | 'grantCreate'
  | 'grantRedeem'
  | 'grantRefresh'
  | 'grantLook'
  | 'grantMiss'
  | 'grantRestore'
  | 'grantRevoke'
  | 'grantRevokeOf',
  Script
>;

/** Seconds; longer than PostgreSQL may take to answer. */
const NOTED = 60;

/** What a script answered: a grant that is active now, or a refusal with the value that explains it. */
export type Transition = { readonly outcome: 'active'; readonly grant: ActiveGrant } | Refusal;

/** Times of a redemption: now in milliseconds, the TTL of an active grant in seconds. */
export interface RedeemTimes {
  readonly now: number;
  /** Whether the code's own expiry has passed. */
  readonly expired: boolean;
  readonly ttl: number;
}

/** The refresh token's generation, and the key it is bound to or why the request's key is refused. */
export interface PresentedToken {
  readonly generation: number;
  readonly jkt: string | null;
  readonly keyRefusal: KeyRefusal | null;
}

/** Times of a refresh: now, retry window and the expiry of a new access token in milliseconds, the TTL in seconds. */
export interface RefreshTimes {
  readonly now: number;
  readonly window: number;
  readonly ttl: number;
  readonly accessExpiry: number;
}

/**
 * The grant state machine in Redis: one hash per grant, one script and one round trip per transition.
 * Times are milliseconds since the epoch, TTLs seconds. Every method throws GrantStoreUnavailableError when Redis
 * cannot answer, and then the transition may or may not have happened.
 */
export class GrantStore {
  private readonly scripts: Scripts;

  constructor(
    private readonly redis: GrantRedis,
    private readonly note: () => string = randomUUID,
    /** Told of what no engine sees: that a grant was created. */
    private readonly observe: ObserveTransition = () => undefined,
  ) {
    const scripts = {
      grantCreate: CREATE,
      grantRedeem: REDEEM,
      grantRefresh: REFRESH,
      grantLook: LOOK,
      grantMiss: MISS,
      grantRestore: RESTORE,
      grantRevoke: REVOKE,
      grantRevokeOf: REVOKE_OF,
    };
    for (const [name, lua] of Object.entries(scripts)) redis.defineCommand(name, { numberOfKeys: 1, lua });
    this.scripts = redis as unknown as Scripts;
  }

  /** Begins a grant as a pending code that lives for `ttl` seconds. */
  async create(id: string, grant: PendingGrant, now: number, ttl: number): Promise<void> {
    const { clientId, userId, scope, redirectUri, challenge, jkt } = grant;
    await this.run(
      'grantCreate',
      id,
      clientId,
      userId,
      scope,
      redirectUri,
      challenge ?? '',
      jkt ?? '',
      now,
      ttl,
    );
    this.observe('created');
  }

  /** pending → active. Of any number of calls with one code exactly one is answered `active`. */
  redeem(id: string, redemption: Redemption, { now, expired, ttl }: RedeemTimes): Promise<Transition> {
    const { clientId, redirectUri, challenge, jkt } = redemption;
    return this.transition(
      'grantRedeem',
      id,
      clientId,
      redirectUri,
      challenge ?? '',
      jkt ?? '',
      now,
      expired ? 1 : 0,
      ttl,
    );
  }

  /** active → active, one generation on; or the same generation again inside the retry window. */
  refresh(
    id: string,
    { clientId, scope }: Renewal,
    { generation, jkt, keyRefusal }: PresentedToken,
    { now, window, ttl, accessExpiry }: RefreshTimes,
  ): Promise<Transition> {
    return this.transition(
      'grantRefresh',
      id,
      clientId,
      generation,
      now,
      window,
      ttl,
      jkt ?? '',
      keyRefusal ?? '',
      scope ?? '',
      accessExpiry,
    );
  }

  /** Reads a grant for an authentic token. A token of a later generation moves the state forward: Redis lost a rotation. */
  look(id: string, { generation, narrowed, jkt }: Token, issuedAt: number, ttl: number): Promise<Transition> {
    return this.transition('grantLook', id, generation, issuedAt, ttl, narrowed ? 1 : 0, jkt ?? '');
  }

  /** Thumbprint of the key that the grant is bound to; null when it is not bound or Redis does not know it. */
  async keyOf(id: string): Promise<string | null> {
    const jkt = await this.available(this.redis.hget(keyOf(id), 'jkt'));
    return jkt || null;
  }

  /** Notes that a grant is lost, before PostgreSQL is asked for it. Null when it is there by now. */
  async miss(id: string): Promise<string | null> {
    return ((await this.run('grantMiss', id, this.note(), NOTED)) as string) || null;
  }

  /** Puts back a lost grant by the note of its loss; leaves alone whatever stands there by now. */
  async restore(
    id: string,
    grant: Omit<ActiveGrant, 'narrowedTo'>,
    note: string,
    ttl: number,
  ): Promise<void> {
    const { clientId, userId, scope, generation, rotatedAt, jkt } = grant;
    const fields = [clientId, userId, scope, generation, rotatedAt, jkt ?? ''];
    await this.run('grantRestore', id, ...fields, ttl, note);
  }

  /** Any state → revoked. @returns false when it was revoked before, and nothing changed */
  async revoke(id: string, ttl: number): Promise<boolean> {
    return (await this.run('grantRevoke', id, ttl)) === 1;
  }

  /** As revoke, only if Redis knows the grant as this client's; also when it was revoked before. @returns whether it does */
  async revokeOf(clientId: string, id: string, ttl: number): Promise<boolean> {
    return (await this.run('grantRevokeOf', id, ttl, clientId)) === 1;
  }

  private async transition(
    script: keyof Scripts,
    id: string,
    ...args: (string | number)[]
  ): Promise<Transition> {
    const [outcome = '', ...fields] = (await this.run(script, id, ...args)) as string[];
    if (outcome !== 'active')
      return { outcome: outcome as RefusalReason, grantId: id, ...(fields[0] && { detail: fields[0] }) };
    const [clientId = '', userId, scope = '', generation, rotatedAt, jkt, narrowedTo] = fields;
    return {
      outcome,
      grant: {
        clientId,
        userId: Number(userId),
        scope,
        generation: Number(generation),
        rotatedAt: Number(rotatedAt),
        jkt: jkt || null,
        narrowedTo: narrowedTo || null,
      },
    };
  }

  private run(script: keyof Scripts, id: string, ...args: (string | number)[]): Promise<unknown> {
    return this.available(this.scripts[script](keyOf(id), ...args));
  }

  private async available<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (cause) {
      throw new GrantStoreUnavailableError(cause);
    }
  }
}

function keyOf(id: string): string {
  return `grant:${id}`;
}
