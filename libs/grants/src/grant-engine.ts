import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { GrantRecordStore } from './records/grant-record.store.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { DependencyUnavailableError } from '#platform/errors.js';
import { isLate } from '#platform/redis/redis-client.js';
import { CLIENT_TOKEN_LIFETIME } from '#oauth/client-credentials.js';
import { DEVICE_CODE_LIFETIME } from '#oauth/device-authorization.js';
import {
  type Authorization,
  type IntrospectedToken,
  type ClientGrant,
  type ClientToken,
  type CountTransition,
  type CreatedGrant,
  type Granted,
  type DevicePoll,
  type KeyRefusal,
  type PendingGrant,
  type CodeExchange,
  type Refusal,
  type RefusalReason,
  type RefreshRequest,
} from './grant.js';
import { GivenUpRequests, UnconfirmedRequestError } from './given-up.js';
import { COUNT_TRANSITION, GrantStore, type Transition, type UsingRequest } from './grant.store.js';
import type { TokenKind } from '#keys/key-ring.js';
import { codeTtl, grantTtl, Lifetimes } from './lifetimes.js';
import { RevocationService } from './revocation.service.js';
import { grantId, isCode, isProvedBy, type Token, TokenCodec } from './token-codec.js';
import { maskedScope, TokenIssuer } from './token-issuer.js';

export interface TokenRevocation {
  readonly outcome: 'revoked' | 'unrecognized' | 'unknown' | 'other_client';
  readonly grantId?: string;
}

/** Refusals after which the grant is revoked, because the code or token may be stolen. */
const REVOKING = ['verifier_mismatch', 'code_replayed', 'refresh_token_reused'] as const;

const RESTORE_ATTEMPTS = 4;

/**
 * Seconds. A retry window of this length is still open when a client repeats a request whose timeout has passed, even
 * if the clocks of two processes differ. A shorter window may have ended.
 */
const RELIABLE_WINDOW = 15;

/**
 * State machine of a grant (docs/adr/0003-grant-as-one-key.md): `pending ──redeem──► active ──refresh──► active`, for a
 * device `requested ──approve──► pending ──poll──► active`, without a user only `active`, and `revoked` from any state.
 * PostgreSQL is read only for a grant that Redis has lost and for a revocation, and written only to revoke a grant.
 * Methods return refusals and throw DependencyUnavailableError.
 */
@Injectable()
export class GrantEngine {
  private readonly ttl: number;

  constructor(
    private readonly store: GrantStore,
    private readonly codec: TokenCodec,
    private readonly issuer: TokenIssuer,
    private readonly records: GrantRecordStore,
    private readonly revocations: RevocationService,
    private readonly lifetimes: Lifetimes,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(COUNT_TRANSITION) private readonly count: CountTransition,
    private readonly givenUp: GivenUpRequests,
  ) {
    this.ttl = grantTtl(lifetimes);
  }

  /** Nothing → pending. @param now milliseconds since the epoch at which the code was issued */
  create(id: string, grant: PendingGrant, now: number): Promise<CreatedGrant> {
    return this.store.create(id, grant, now, codeTtl(this.lifetimes));
  }

  /** Nothing → requested (RFC 8628 3.2). @param jkt thumbprint of the device's key, or null */
  request(id: string, clientId: string, jkt: string | null): Promise<void> {
    return this.store.request(id, clientId, jkt, DEVICE_CODE_LIFETIME + this.lifetimes.clockSkew);
  }

  /** requested → pending. @returns false if the request has expired, has another decision or is from another client */
  approve(id: string, grant: Authorization): Promise<boolean> {
    return this.store.approve(id, grant, this.clock());
  }

  /** requested → revoked. @returns false if the request has expired, was allowed or is from another client */
  deny(id: string, clientId: string): Promise<boolean> {
    return this.store.deny(id, clientId);
  }

  /** pending → revoked, also before `create`. @returns false if the code is redeemed or from another client */
  voidCode(id: string, clientId: string): Promise<boolean> {
    return this.store.voidCode(id, clientId, codeTtl(this.lifetimes));
  }

  /** Redeems a code once. A replayed code (RFC 6749 4.1.2) and a wrong verifier (RFC 7636 4.6) revoke the grant. */
  async redeem(code: string, exchange: CodeExchange): Promise<Granted | Refusal> {
    const token = this.authentic(code, 'code');
    if ('outcome' in token) return token;
    const id = grantId(token.handle);
    // Checks an expired code in the store too, because it may be a replay of a redeemed code.
    const times = { now: this.clock(), expired: this.isExpired(token, exchange.maxAge), ttl: this.ttl };
    const request = newRequestId();
    const transition = await this.useOnce(request, (using) => this.store.redeem(id, exchange, times, using));
    // A pending grant expires with its code, and a code cannot restore a grant.
    if (transition.outcome === 'unknown') return expired(id, token);
    if (transition.outcome !== 'active') return this.refuse(transition, token, exchange);
    this.count('redeemed');
    const access = { ...exchange, scope: null };
    const pair = this.issuer.pair(token.handle, transition.grant, access, times.now);
    const { grant, idToken } = transition;
    return {
      outcome: 'granted',
      transition: 'redeemed',
      grantId: id,
      grant,
      pair,
      request,
      ...(idToken && { idToken }),
    };
  }

  /**
   * Makes a request repeatable after its response could not be created. Call it before the client gets the error.
   * @throws UnconfirmedRequestError if the client must not repeat the request
   */
  async giveUp({ request }: Pick<Granted, 'request'>, cause: unknown): Promise<void> {
    if (request !== null && !(await this.givenUp.announce(request))) throw new UnconfirmedRequestError(cause);
  }

  /**
   * Answers the poll of a device (RFC 8628 3.4). A poll after the device has got its tokens gets the same pair within
   * the retry window, and otherwise revokes the grant.
   */
  async poll(deviceCode: string, request: DevicePoll): Promise<Granted | Refusal> {
    const token = this.authentic(deviceCode, 'device');
    if ('outcome' in token) return token;
    const id = grantId(token.handle);
    const now = this.clock();
    const window = this.lifetimes.retryWindow * 1000;
    const times = { now, window, expired: this.isExpired(token), ttl: this.ttl };
    const requestId = this.repeatableId();
    const poll = (using: UsingRequest) => this.store.poll(id, request, times, using);
    const transition = await this.useOnce(requestId, poll);
    if (transition.outcome === 'unknown') return expired(id, token);
    if (transition.outcome !== 'active') return this.refuse(transition, token, request);
    const { grant } = transition;
    // In a retry, `rotatedAt` is before `now`, unless both polls were in the same millisecond.
    const name = grant.rotatedAt === now ? 'redeemed' : 'retried';
    this.count(name);
    const pair = this.issuer.pair(token.handle, grant, { ...request, scope: null }, now);
    return { outcome: 'granted', transition: name, grantId: id, grant, pair, request: requestId };
  }

  /**
   * Refreshes a grant (RFC 6749 6). Reuse revokes the grant, regardless of the key that the request proves (RFC 9700
   * 4.14.2). A request with a wrong key does not rotate, bind or restore anything. The expiry of a kept token never
   * changes. The access token is bound to the proved key, even in a retry (docs/adr/0033-keys-of-bound-tokens.md).
   */
  async refresh(refreshToken: string, request: RefreshRequest): Promise<Granted | Refusal> {
    const token = this.authentic(refreshToken, 'refresh');
    if ('outcome' in token) return token;
    const id = grantId(token.handle);
    if (this.isExpired(token)) return expired(id, token);
    const keyRefusal = keyRefusalOf(token, request);
    const { generation } = token;
    // A bearer token always rotates, because only rotation reveals its theft (RFC 9700 4.14.2).
    const keptSince =
      request.keepsRefreshToken === true && token.jkt !== null ? this.issuer.issuedAt(token) : null;
    const jkt = keptSince === null ? request.jkt : token.jkt;
    const acceptsAnyKey = request.clientHasKeys === true && request.jkt !== null;
    const presented = { generation, jkt, keyRefusal, acceptsAnyKey, keptSince };
    // Each attempt reads the clock, so that a slow restore does not shorten the retry window.
    let now = 0;
    const requestId = this.repeatableId();
    const rotate = () => {
      now = this.clock();
      const times = { now, window: this.lifetimes.retryWindow * 1000, ttl: this.ttl };
      return this.useOnce(requestId, (using) => this.store.refresh(id, request, presented, times, using));
    };
    const transition = await (keyRefusal ? rotate() : this.restoreAndRetry(id, token, rotate));
    if (keyRefusal && transition.outcome === 'unknown') return { outcome: keyRefusal, grantId: id };
    if (transition.outcome !== 'active') return this.refuse(transition, token, request);
    const { grant } = transition;
    // A token that was issued while the client's tokens rotated can still be retried within the retry window.
    const isKept = keptSince !== null && grant.generation === generation;
    const name = isKept || grant.rotatedAt === now ? 'refreshed' : 'retried';
    this.count(name);
    const started = isKept ? { ...grant, rotatedAt: now } : grant;
    const next = this.issuer.pair(token.handle, started, request, now);
    const pair = isKept ? { ...next, refreshToken } : next;
    return { outcome: 'granted', transition: name, grantId: id, grant: started, pair, request: requestId };
  }

  /** Issues an access token without a user and without a refresh token (RFC 6749 4.4.3). */
  async issue(grant: ClientGrant): Promise<ClientToken> {
    const now = this.clock();
    const lifetime = Math.min(CLIENT_TOKEN_LIFETIME, this.lifetimes.accessToken);
    const token = this.issuer.clientToken(grant, now, lifetime);
    await this.store.issue(token.grantId, grant, now, lifetime + this.lifetimes.clockSkew);
    return token;
  }

  /** Needs no I/O for a malformed, forged or expired token. @param jkt thumbprint of the proved key, or null */
  async introspect(text: string, jkt: string | null): Promise<IntrospectedToken | Refusal> {
    const token = this.codec.decode(text);
    if (!token) return { outcome: 'unrecognized' };
    return isProvedBy(token, jkt) ? this.introspectToken(token) : { outcome: 'key_mismatch' };
  }

  /** Introspects for a caller that must itself require a proof of the token's key (RFC 7662). */
  async introspectWithoutProof(text: string): Promise<IntrospectedToken | Refusal> {
    const token = this.codec.decode(text);
    return token ? this.introspectToken(token) : { outcome: 'unrecognized' };
  }

  /**
   * Revokes the grant of a token (RFC 7009 2.1). Accepts expired tokens, and bound tokens without a proof.
   * @throws UnfinishedRevocationError if PostgreSQL has recorded the revocation and Redis is unavailable
   */
  async revokeByToken(text: string, clientId: string): Promise<TokenRevocation> {
    const token = this.codec.decode(text);
    if (!token || isCode(token.kind)) return { outcome: 'unrecognized' };
    const id = grantId(token.handle);
    const record = await this.records.find(id);
    if (!record) {
      const isRevoked = await this.revocations.revokeUnrecorded(id, clientId);
      return { outcome: isRevoked ? 'revoked' : 'unknown', grantId: id };
    }
    if (record.clientId !== clientId) return { outcome: 'other_client', grantId: id };
    await this.revocations.revoke(id, 'application');
    return { outcome: 'revoked', grantId: id };
  }

  private async introspectToken(token: Token): Promise<IntrospectedToken | Refusal> {
    if (isCode(token.kind)) return { outcome: 'wrong_kind', sent: token.kind };
    const id = grantId(token.handle);
    if (this.isExpired(token)) return expired(id, token);
    const issuedAt = this.issuer.issuedAt(token);
    const read = () => this.store.introspect(id, token, issuedAt, this.ttl);
    const transition = await this.restoreAndRetry(id, token, read);
    if (transition.outcome !== 'active') return transition;
    const { grant } = transition;
    const scope = maskedScope(grant.scope, token.scopeMask);
    // A refresh token does not contain an audience, because it is valid for all resources of its grant.
    const audience = token.audience ?? grant.resources;
    return { outcome: 'active', grantId: id, grant, token, scope, audience };
  }

  /**
   * Runs a transition that uses a code or token. If an earlier request used it, and the client of that request got an
   * error, runs the transition as a repetition of that request.
   */
  private async useOnce(
    request: string | null,
    run: (using: UsingRequest) => Promise<Transition>,
  ): Promise<Transition> {
    const use = (givenUp: string | null) =>
      run({ request, givenUp }).catch(async (error: unknown) => {
        if (error instanceof DependencyUnavailableError && !isLate(error))
          await this.giveUp({ request }, error);
        throw error;
      });
    const transition = await use(null);
    if (transition.outcome === 'active' || transition.usedBy === undefined) return transition;
    return this.givenUp.has(transition.usedBy) ? use(transition.usedBy) : transition;
  }

  /** Returns an id for a refresh or poll that the retry window may not make repeatable; otherwise null. */
  private repeatableId(): string | null {
    return this.lifetimes.retryWindow < RELIABLE_WINDOW ? newRequestId() : null;
  }

  private authentic(text: string, kind: TokenKind): Token | Refusal {
    const token = this.codec.decode(text);
    if (!token) return { outcome: 'unrecognized' };
    return token.kind === kind
      ? token
      : { outcome: 'wrong_kind', grantId: grantId(token.handle), sent: token.kind, expected: kind };
  }

  /** @param maxAge maximum age of a code in seconds, without an allowance for clock skew */
  private isExpired({ expiry }: Pick<Token, 'expiry'>, maxAge = Infinity): boolean {
    const { code, clockSkew } = this.lifetimes;
    return this.clock() / 1000 > Math.min(expiry + clockSkew, expiry - code + maxAge);
  }

  /**
   * Restores a lost grant from PostgreSQL and retries.
   * @throws DependencyUnavailableError if Redis keeps losing the grant, because a refusal would log the user out
   */
  private async restoreAndRetry<Grant>(
    id: string,
    token: Token,
    run: () => Promise<Transition<Grant>>,
  ): Promise<Transition<Grant>> {
    for (let attempt = 0; attempt < RESTORE_ATTEMPTS; attempt++) {
      const transition = await run();
      if (transition.outcome !== 'unknown') return transition;
      const marker = await this.store.markMissing(id);
      if (marker === null) continue; // Another request has restored or revoked the grant.
      const record = await this.records.find(id);
      if (!record || record.isUnredeemed) return transition;
      if (record.revokedAt) return { outcome: 'revoked', grantId: id };
      const { clientId, userId, externalId, scope, resources, login, endsAt } = record;
      const { generation, jkt } = token;
      const rotatedAt = this.issuer.issuedAt(token);
      const ends = { endsAt: endsAt?.getTime() ?? null };
      const lost = {
        clientId,
        userId,
        externalId,
        scope,
        resources,
        generation,
        rotatedAt,
        jkt,
        login,
        ...ends,
      };
      await this.store.restore(id, lost, marker, this.ttl);
      this.count('restored');
    }
    throw new DependencyUnavailableError('redis', 'it loses grants faster than they can be restored');
  }

  private async refuse(
    refusal: Refusal,
    token: Token,
    presented: CodeExchange | RefreshRequest | DevicePoll,
  ): Promise<Refusal> {
    if (isRevoking(refusal.outcome)) {
      this.count(refusal.outcome);
      await this.revocations.revoke(grantId(token.handle), refusal.outcome);
    }
    if (refusal.outcome === 'expired') return expired(grantId(token.handle), token);
    const sent = SENT[refusal.outcome]?.(presented, token);
    return typeof sent === 'string' ? { ...refusal, sent } : refusal;
  }
}

function isRevoking(reason: RefusalReason): reason is (typeof REVOKING)[number] {
  return (REVOKING as readonly RefusalReason[]).includes(reason);
}

function newRequestId(): string {
  return randomBytes(9).toString('base64url');
}

function expired(id: string, { expiry }: Pick<Token, 'expiry'>): Refusal {
  return { outcome: 'expired', grantId: id, expiredAt: new Date(expiry * 1000).toISOString() };
}

/** Values in a request that cause refusals. The scripts return the expected values. */
const SENT: Readonly<
  Partial<
    Record<
      RefusalReason,
      (presented: Partial<CodeExchange & RefreshRequest>, token: Token) => string | null | undefined
    >
  >
> = {
  other_client: ({ clientId }) => clientId,
  redirect_uri_mismatch: ({ redirectUri }) => redirectUri,
  scope_not_granted: ({ scope }) => scope,
  resource_exceeded: ({ resources }) => resources,
  refresh_token_reused: (_presented, { generation }) => String(generation),
};

/** RFC 9449 5: a client with keys may prove a new key, because its keys already constrain its refresh tokens. */
function keyRefusalOf(token: Token, { jkt, clientHasKeys = false }: RefreshRequest): KeyRefusal | null {
  if (clientHasKeys && jkt !== null) return null;
  if (!isProvedBy(token, jkt)) return 'key_mismatch';
  return token.jkt === jkt ? null : 'key_unexpected';
}
