import type { AnnounceRevocation, DurableGrants } from './durable-grants.js';
import type {
  ActiveGrant,
  Granted,
  KeyRefusal,
  Redemption,
  Refusal,
  RefusalReason,
  Renewal,
} from './grant.js';
import { grantId } from './grant-id.js';
import { GrantRestorer } from './grant-restorer.js';
import type { ObserveTransition } from './grant-transition.js';
import type { GrantStore, Transition } from './grant.store.js';
import type { TokenKind } from './key-ring.js';
import { grantTtl, type Lifetimes } from './lifetimes.js';
import type { AuthenticToken, Token, TokenCodec } from './token-codec.js';
import type { TokenIssuer } from './token-issuer.js';

/** What an access or refresh token stands for right now. */
export interface LiveToken {
  readonly outcome: 'live';
  readonly grantId: string;
  readonly grant: ActiveGrant;
  readonly token: Token;
}

/** What became of a client's wish to revoke. */
export interface TokenRevocation {
  readonly outcome: 'revoked' | 'not_ours' | 'unknown' | 'other_client';
  readonly grantId?: string;
}

export interface GrantEngineParts {
  readonly store: GrantStore;
  readonly codec: TokenCodec;
  readonly issuer: TokenIssuer;
  readonly lifetimes: Lifetimes;
  readonly durable: DurableGrants;
  readonly announce: AnnounceRevocation;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Counts what happens; nobody does when absent. */
  readonly observe?: ObserveTransition;
}

const REVOKING = ['verifier_mismatch', 'code_replayed', 'refresh_token_reused'] as const;
type Revoking = (typeof REVOKING)[number];

/**
 * The life of a grant (DESIGN 3): `pending ──redeem──► active ──refresh──► active`, and `revoked` from anywhere.
 *
 * Redis decides each transition in one script; PostgreSQL is asked only when Redis has lost the grant, and told
 * only when it is revoked. Refusals are values; what throws is a store that did not answer.
 */
export class GrantEngine {
  private readonly restorer: GrantRestorer;

  constructor(private readonly parts: GrantEngineParts) {
    this.restorer = new GrantRestorer(parts);
  }

  /** Exchanges a code for the first pair. A replayed code and a wrong verifier revoke the grant. */
  async redeem(code: string, redemption: Redemption): Promise<Granted | Refusal> {
    const token = this.authentic(code, 'code');
    if ('outcome' in token) return token;
    const { store, clock, lifetimes } = this.parts;
    // An expired code still goes to the store: it may be a replay of one that was redeemed in time.
    const times = { now: clock(), expired: this.expired(token), ttl: grantTtl(lifetimes) };
    const transition = await store.redeem(grantId(token.handle), redemption, times);
    // What has no key any more was pending for longer than a code lives; a code is never restored.
    if (transition.outcome === 'active') this.parts.observe?.('redeemed');
    return this.conclude(
      token,
      transition.outcome === 'unknown' ? { ...transition, outcome: 'expired' } : transition,
      times.now,
    );
  }

  /**
   * Exchanges a refresh token for the next pair, or for the same pair inside the retry window. Reuse revokes the grant,
   * whatever key the request proves: the script checks the generation before the key. A request with the wrong key
   * rotates, binds and restores nothing.
   */
  async refresh(refreshToken: string, renewal: Renewal): Promise<Granted | Refusal> {
    const token = this.authentic(refreshToken, 'refresh');
    if ('outcome' in token) return token;
    const id = grantId(token.handle);
    if (this.expired(token)) return { outcome: 'expired', grantId: id };
    const { codec, store, lifetimes } = this.parts;
    const proved = codec.decode(refreshToken, renewal.jkt);
    const keyRefusal = keyRefusalOf(proved, renewal.jkt);
    const presented = { generation: token.generation, jkt: proved?.jkt ?? null, keyRefusal };
    let now = 0;
    const refresh = () => {
      now = this.parts.clock();
      const accessExpiry = now + lifetimes.accessToken * 1000;
      const times = { now, window: lifetimes.retryWindow * 1000, ttl: grantTtl(lifetimes), accessExpiry };
      return store.refresh(id, renewal, presented, times);
    };
    const transition = await (proved && !keyRefusal ? this.restorer.run(proved, refresh) : refresh());
    if (keyRefusal && transition.outcome === 'unknown') return { outcome: keyRefusal, grantId: id };
    // An earlier rotation time means a retry; a retry within the same millisecond counts as a refresh.
    if (transition.outcome === 'active')
      this.parts.observe?.(transition.grant.rotatedAt === now ? 'refreshed' : 'retried');
    return this.conclude(token, transition, now);
  }

  /**
   * Introspects an access or refresh token presented with a proof of the key `jkt` (null: no proof). Malformed, forged and
   * expired tokens cost no I/O.
   */
  async look(text: string, jkt: string | null): Promise<LiveToken | Refusal> {
    const token = this.parts.codec.decode(text, jkt);
    if (!token) return this.undecodable(text);
    if (token.kind === 'code') return { outcome: 'wrong_kind', detail: token.kind };
    const id = grantId(token.handle);
    if (this.expired(token)) return { outcome: 'expired', grantId: id };
    const { store, lifetimes } = this.parts;
    const look = () => store.look(id, token, this.parts.issuer.issuedAt(token), grantTtl(lifetimes));
    const transition = await this.restorer.run(token, look);
    return transition.outcome === 'active'
      ? { outcome: 'live', grantId: id, grant: transition.grant, token }
      : transition;
  }

  /**
   * As look, for a caller that has not seen a proof of the token's key (RFC 7662): uses the key stored in Redis. A bound
   * token whose grant Redis has lost is unknown until a request proves its key again.
   */
  async inspect(text: string): Promise<LiveToken | Refusal> {
    const token = this.parts.codec.decodeWithoutKey(text);
    return this.look(text, token?.bound ? await this.parts.store.keyOf(grantId(token.handle)) : null);
  }

  /**
   * Revokes a grant and all its tokens: first in PostgreSQL, then in Redis, then in every cache. After an error the
   * revocation may be incomplete; calling again is safe.
   */
  async revoke(id: string): Promise<void> {
    await this.parts.durable.revoke(id);
    this.parts.observe?.('revoked');
    await this.applyRevocation(id);
  }

  /**
   * Revokes the grant of a token at its client's request. Accepts expired tokens, and bound tokens without a proof: holding
   * the token is enough. Asks Redis for the owner only when PostgreSQL has no record (a fail-over may have lost it), so that
   * a revocation is durable even while Redis is down.
   */
  async revokeByToken(text: string, clientId: string): Promise<TokenRevocation> {
    const token = this.parts.codec.decodeWithoutKey(text);
    if (!token || token.kind === 'code') return { outcome: 'not_ours' };
    const id = grantId(token.handle);
    const record = await this.parts.durable.find(id);
    if (!record) return { outcome: await this.revokeUnrecorded(id, clientId), grantId: id };
    if (record.clientId !== clientId) return { outcome: 'other_client', grantId: id };
    await this.revoke(id);
    return { outcome: 'revoked', grantId: id };
  }

  /** The part of a revocation that follows from the record: after a fail-over Redis may not know it any more. */
  async applyRevocation(id: string): Promise<void> {
    try {
      await this.parts.store.revoke(id, grantTtl(this.parts.lifetimes));
    } finally {
      this.parts.announce(id);
    }
  }

  /**
   * As applyRevocation, where it is likely to be applied already: then it is not announced, unless `announce` is `always`.
   *
   * @returns whether it was not applied
   */
  async repeatRevocation(id: string, announce: 'always' | 'when_applied'): Promise<boolean> {
    const applied = await this.parts.store.revoke(id, grantTtl(this.parts.lifetimes));
    if (applied || announce === 'always') this.parts.announce(id);
    return applied;
  }

  /** What PostgreSQL does not have is not restored: that Redis knows it revoked is enough. */
  private async revokeUnrecorded(id: string, clientId: string): Promise<'revoked' | 'unknown'> {
    if (!(await this.parts.store.revokeOf(clientId, id, grantTtl(this.parts.lifetimes)))) return 'unknown';
    this.parts.observe?.('revoked');
    this.parts.announce(id);
    return 'revoked';
  }

  private authentic(text: string, kind: TokenKind): AuthenticToken | Refusal {
    const token = this.parts.codec.decodeWithoutKey(text);
    if (!token) return { outcome: 'not_ours' };
    return token.kind === kind
      ? token
      : { outcome: 'wrong_kind', grantId: grantId(token.handle), detail: token.kind };
  }

  private undecodable(text: string): Refusal {
    return { outcome: this.parts.codec.decodeWithoutKey(text) ? 'key_mismatch' : 'not_ours' };
  }

  /** @param now when Redis was asked: a new access token has its whole lifetime, though a second may have ended since */
  private async conclude(
    token: AuthenticToken,
    transition: Transition,
    now: number,
  ): Promise<Granted | Refusal> {
    const id = grantId(token.handle);
    if (transition.outcome === 'active') {
      const pair = this.parts.issuer.pair(token.handle, transition.grant, now);
      return { outcome: 'granted', grantId: id, grant: transition.grant, pair };
    }
    if (isRevoking(transition.outcome)) {
      this.parts.observe?.(transition.outcome);
      await this.revoke(id);
    }
    return transition;
  }

  private expired({ expiry }: Pick<Token, 'expiry'>): boolean {
    return this.parts.clock() / 1000 > expiry + this.parts.lifetimes.clockSkew;
  }
}

/** RFC 9449 5: "such a client MUST present a DPoP proof for the same key that was used to obtain the refresh token". */
function keyRefusalOf(token: Token | null, jkt: string | null): KeyRefusal | null {
  if (!token) return 'key_mismatch';
  return token.jkt === jkt ? null : 'key_unexpected';
}

function isRevoking(outcome: RefusalReason): outcome is Revoking {
  return (REVOKING as readonly RefusalReason[]).includes(outcome);
}
