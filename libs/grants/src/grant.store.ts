import { randomUUID } from 'node:crypto';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { defineScripts, type RedisClient, type RunScript } from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.connection.js';
import { POLL_INTERVAL } from '#oauth/device-authorization.js';
import type { Metrics } from '#platform/telemetry/metrics.js';
import type {
  ActiveGrant,
  Authorization,
  ClientGrant,
  CountTransition,
  CreatedGrant,
  DevicePoll,
  GrantTransition,
  IdTokenRequest,
  IntrospectedGrant,
  KeyRefusal,
  Login,
  PendingGrant,
  CodeExchange,
  Refusal,
  RefreshRequest,
} from './grant.js';
import { APPROVE, DENY, POLL, REQUEST } from './device.scripts.js';
import {
  CREATE,
  INTROSPECT,
  ISSUE,
  MARK_MISSING,
  REDEEM,
  REDEMPTION,
  REFRESH,
  RESTORE,
  REVOKE,
  REVOKE_OF_CLIENT,
  VOID_CODE,
} from './grant.scripts.js';
import { type ActiveReply, type RefusedReply, STATUS } from './grant-hash.js';
import type { Token } from './token-codec.js';

export const COUNT_TRANSITION = Symbol('count of grant transitions');

/** @param transitions start at 0 in the metric, so that Prometheus counts the first occurrence as an increase */
export function countTransitions(metrics: Metrics, transitions: readonly GrantTransition[]): CountTransition {
  const counter = metrics.counter('oauth_grant_transitions_total', 'Grant transitions, by kind', [
    'transition',
  ]);
  for (const transition of transitions) counter.inc({ transition }, 0);
  return (transition) => counter.inc({ transition });
}

const SCRIPTS = {
  grantCreate: CREATE,
  grantIssue: ISSUE,
  grantRedeem: REDEEM,
  grantRefresh: REFRESH,
  grantIntrospect: INTROSPECT,
  grantMarkMissing: MARK_MISSING,
  grantRestore: RESTORE,
  grantRevoke: REVOKE,
  grantRevokeOfClient: REVOKE_OF_CLIENT,
  grantRequest: REQUEST,
  grantApprove: APPROVE,
  grantDeny: DENY,
  grantVoidCode: VOID_CODE,
  grantPoll: POLL,
  grantRedemption: REDEMPTION,
};

/** In seconds, longer than the timeout of PostgreSQL. */
const MARKER_TTL = 60;

export type Transition<Grant = ActiveGrant> =
  { readonly outcome: 'active'; readonly grant: Grant; readonly idToken?: IdTokenRequest } | Refusal;

/** A request that uses a code or single-use token. */
export interface UsingRequest {
  /** Null if the retry window alone makes the request repeatable. */
  readonly request: string | null;
  /** Earlier request that used the code or token, and whose client got an error. */
  readonly givenUp: string | null;
}

export interface RedeemTimes {
  readonly now: number;
  readonly expired: boolean;
  readonly ttl: number;
}

export interface PresentedToken {
  readonly generation: number;
  readonly jkt: string | null;
  readonly keyRefusal: KeyRefusal | null;
  readonly acceptsAnyKey: boolean;
  /** Start of the token's generation in milliseconds, if the client keeps the token; null if the token rotates. */
  readonly keptSince: number | null;
}

export interface RefreshTimes {
  readonly now: number;
  readonly window: number;
  readonly ttl: number;
}

/**
 * Grants in Redis. Times are in milliseconds since the epoch, TTLs in seconds. A transition that threw
 * DependencyUnavailableError may have been applied before its deadline, but is not applied afterwards.
 */
@Injectable()
export class GrantStore {
  private readonly run: RunScript<typeof SCRIPTS>;

  constructor(
    @Inject(REDIS) redis: RedisClient,
    @Inject(COUNT_TRANSITION) @Optional() private readonly count: CountTransition = () => undefined,
    @Optional() private readonly marker: () => string = randomUUID,
  ) {
    this.run = defineScripts(redis, SCRIPTS);
  }

  async create(id: string, grant: PendingGrant, now: number, ttl: number): Promise<CreatedGrant> {
    const { clientId, userId, externalId, scope, resources, redirectUri, challenge, jkt, login, idToken } =
      grant;
    const reply = await this.run('grantCreate', keysOf(id), {
      client: clientId,
      user: userId,
      external_id: externalId,
      scope,
      resources,
      redirect_uri: redirectUri,
      challenge,
      jkt,
      now,
      ttl,
      login: login ? writeLogin(login) : null,
      id_token: idToken && Object.keys(idToken).length > 0 ? JSON.stringify(idToken) : null,
      ends_at: grant.endsAt ?? null,
    });
    const [status, time] = reply as [string | null, string | null];
    const issuedAt = Number(time);
    if (status !== STATUS.pending)
      return { outcome: status === STATUS.active ? 'redeemed' : 'revoked', issuedAt };
    if (issuedAt === now) this.count('created');
    return { outcome: 'pending', issuedAt };
  }

  async issue(
    id: string,
    { clientId: client, version: generation, scope, resource: resources }: ClientGrant,
    now: number,
    ttl: number,
  ): Promise<void> {
    await this.run('grantIssue', keysOf(id), { client, generation, scope, resources, now, ttl });
    this.count('issued');
  }

  async request(id: string, clientId: string, jkt: string | null, ttl: number): Promise<void> {
    await this.run('grantRequest', keysOf(id), { client: clientId, jkt, interval: POLL_INTERVAL, ttl });
  }

  async approve(id: string, grant: Authorization, now: number): Promise<boolean> {
    const { clientId, userId, externalId, scope, resources, login, endsAt } = grant;
    const approved = await this.run('grantApprove', keysOf(id), {
      client: clientId,
      user: userId,
      external_id: externalId,
      scope,
      resources,
      now,
      login: login ? writeLogin(login) : null,
      ends_at: endsAt ?? null,
    });
    if (approved === 1) this.count('created');
    return approved !== 0;
  }

  async deny(id: string, clientId: string): Promise<boolean> {
    return (await this.run('grantDeny', keysOf(id), { client: clientId })) === 1;
  }

  async voidCode(id: string, clientId: string, ttl: number): Promise<boolean> {
    return (
      (await this.run('grantVoidCode', [...keysOf(id), exchangedKeyOf(id)], { client: clientId, ttl })) === 1
    );
  }

  async poll(
    id: string,
    { clientId, resources, jkt }: DevicePoll,
    { now, window, expired, ttl }: RedeemTimes & Pick<RefreshTimes, 'window'>,
    { request, givenUp }: UsingRequest,
  ): Promise<Transition> {
    const reply = await this.run('grantPoll', keysOf(id), {
      client: clientId,
      resources,
      jkt,
      now,
      window,
      expired: expired ? 1 : 0,
      ttl,
      request,
      given_up: givenUp,
    });
    return ofUser(transitionOf(id, reply));
  }

  /** pending → active. At most one of several calls with the same code succeeds. */
  async redeem(
    id: string,
    exchange: CodeExchange,
    { now, expired, ttl }: RedeemTimes,
    { request, givenUp }: UsingRequest,
  ): Promise<Transition> {
    const { clientId, redirectUri, challenge, jkt, resources } = exchange;
    const reply = await this.run('grantRedeem', [...keysOf(id), exchangedKeyOf(id)], {
      client: clientId,
      resources,
      redirect_uri: redirectUri,
      challenge,
      jkt,
      now,
      expired: expired ? 1 : 0,
      ttl,
      request,
      given_up: givenUp,
    });
    return ofUser(transitionOf(id, reply));
  }

  async refresh(
    id: string,
    { clientId, scope, resources }: RefreshRequest,
    { generation, jkt, keyRefusal, acceptsAnyKey, keptSince }: PresentedToken,
    { now, window, ttl }: RefreshTimes,
    { request, givenUp }: UsingRequest,
  ): Promise<Transition> {
    const reply = await this.run('grantRefresh', keysOf(id), {
      client: clientId,
      scope,
      resources,
      jkt,
      key_refusal: keyRefusal,
      generation,
      now,
      window,
      ttl,
      any_key: acceptsAnyKey ? 1 : null,
      request,
      given_up: givenUp,
      kept_since: keptSince,
    });
    return ofUser(transitionOf(id, reply));
  }

  /** A token of a later generation moves the state forward, because Redis lost the exchange or a rotation. */
  async introspect(
    id: string,
    { generation, jkt }: Token,
    issuedAt: number,
    ttl: number,
  ): Promise<Transition<IntrospectedGrant>> {
    const values = { jkt, generation, rotated_at: issuedAt, ttl };
    return transitionOf(id, await this.run('grantIntrospect', keysOf(id), values));
  }

  /** Must be called before PostgreSQL is read. @returns the marker; null if the grant exists */
  async markMissing(id: string): Promise<string | null> {
    const values = { marker: this.marker(), ttl: MARKER_TTL };
    return ((await this.run('grantMarkMissing', keysOf(id), values)) as string) || null;
  }

  /** Does nothing if Redis has lost the marker, or if another request has restored or revoked the grant. */
  async restore(id: string, grant: ActiveGrant, marker: string, ttl: number): Promise<void> {
    const { clientId, userId, externalId, scope, resources, generation, rotatedAt, jkt, login } = grant;
    await this.run('grantRestore', keysOf(id), {
      client: clientId,
      user: userId,
      external_id: externalId,
      scope,
      resources,
      jkt,
      generation,
      rotated_at: rotatedAt,
      marker,
      ttl,
      login: login ? writeLogin(login) : null,
      ends_at: grant.endsAt ?? null,
    });
  }

  /**
   * Returns `redeemed` for an active grant, `open` while a code can be redeemed or a restore is in progress, and
   * `ended` for a grant that was revoked or that Redis does not have.
   */
  async redemption(id: string): Promise<'redeemed' | 'open' | 'ended'> {
    return (await this.run('grantRedemption', keysOf(id), {})) as 'redeemed' | 'open' | 'ended';
  }

  /** Any state → revoked. @returns false if already revoked */
  async revoke(id: string, ttl: number): Promise<boolean> {
    return (await this.run('grantRevoke', keysOf(id), { ttl })) === 1;
  }

  /** Revokes a grant of this client. @returns true if Redis has the grant, even if it was already revoked */
  async revokeOfClient(clientId: string, id: string, ttl: number): Promise<boolean> {
    return (await this.run('grantRevokeOfClient', keysOf(id), { client: clientId, ttl })) === 1;
  }
}

function transitionOf(id: string, result: unknown): Transition<IntrospectedGrant> {
  const reply = result as ActiveReply | RefusedReply;
  if (reply[0] !== 'active') {
    const [outcome, expected, usedBy] = reply;
    return { outcome, grantId: id, ...(expected && { expected }), ...(usedBy && { usedBy }) };
  }
  const [
    outcome,
    clientId,
    userId,
    externalId,
    scope,
    resources,
    jkt,
    generation,
    rotatedAt,
    login,
    endsAt,
    idToken,
  ] = reply;
  return {
    outcome,
    ...(idToken && { idToken: JSON.parse(idToken) as IdTokenRequest }),
    grant: {
      clientId,
      userId: userId === null ? null : Number(userId),
      externalId: externalId || null,
      scope,
      resources: resources || null,
      generation: Number(generation),
      rotatedAt: Number(rotatedAt),
      jkt: jkt || null,
      ...(login && { login: readLogin(login) }),
      ...(endsAt && { endsAt: Number(endsAt) }),
    },
  };
}

function ofUser(transition: Transition<IntrospectedGrant>): Transition {
  if (transition.outcome === 'active' && transition.grant.userId === null)
    throw new TypeError('a grant without a user has no code and no refresh token');
  return transition as Transition;
}

function writeLogin({ authTime, session }: Login): string {
  return `${authTime ?? ''} ${session}`;
}

function readLogin(text: string): Login {
  const [authTime = '', session = ''] = text.split(' ');
  return { authTime: authTime === '' ? null : Number(authTime), session };
}

function keysOf(id: string): string[] {
  return [`grant:${id}`];
}

/** Returns a key in the Redis Cluster slot of the grant. */
function exchangedKeyOf(id: string): string {
  return `exchanged:{grant:${id}}`;
}
