import { setImmediate as nextTurn } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { SUBJECTS } from '#messaging/contract.js';
import { NatsConnection } from '#messaging/nats.connection.js';
import { DependencyUnavailableError } from '#platform/errors.js';
import type { RevocationCause } from '#oauth/revocation-cause.js';
import { GrantRecordStore, type RecordedRevocation } from './records/grant-record.store.js';
import type { CountTransition } from './grant.js';
import { COUNT_TRANSITION, GrantStore } from './grant.store.js';
import { grantTtl, Lifetimes } from './lifetimes.js';

/** Broadcasts `oauth.grant.revoked`, so that every process evicts the grants' tokens from its cache. */
export abstract class RevocationPublisher {
  /** @returns false if broadcasts may be lost */
  abstract publish(grantIds: readonly string[]): Promise<boolean>;
}

/** Limit of broadcasts per turn of the event loop, so that other requests are served in between. */
const PER_TURN = 1000;

/** Publishes over NATS. Broadcasts may be lost while NATS reconnects. */
@Injectable()
export class NatsRevocationPublisher extends RevocationPublisher {
  constructor(private readonly connection: NatsConnection) {
    super();
  }

  async publish(grantIds: readonly string[]): Promise<boolean> {
    let { trusted } = this.connection.broadcasts;
    for (const [n, id] of grantIds.entries()) {
      if (n > 0 && n % PER_TURN === 0) {
        await nextTurn();
        // A reconnect between two turns may lose earlier broadcasts.
        trusted &&= this.connection.broadcasts.trusted;
      }
      this.connection.publish(SUBJECTS.grantRevoked, { grant_id: id });
    }
    return trusted;
  }
}

export interface RevocationResult {
  /** Includes earlier revocations that are recent or not applied yet (`GrantRecordStore.revokeOf`). */
  readonly grants: number;
  /** False if broadcasts may be lost; then caches may accept a revoked token for up to 30 s. */
  readonly announced: boolean;
}

/** `since` and `until` are milliseconds of the database's clock. */
export interface ReconcilerPass {
  readonly since: number;
  readonly until: number;
  /** True to broadcast even revocations that were already applied. */
  readonly announceAll: boolean;
  /** Called before each page. The result true ends the pass. */
  readonly isObsolete: () => boolean;
}

const BATCH = 500;

/**
 * Thrown if a revocation is recorded in PostgreSQL but not applied to Redis, so tokens may still work. A repeated call
 * completes the revocation.
 */
export class UnfinishedRevocationError extends DependencyUnavailableError {
  constructor(cause: unknown) {
    super('redis', cause);
    this.name = 'UnfinishedRevocationError';
  }
}

/**
 * Records a revocation in PostgreSQL, applies it to Redis, broadcasts it, and marks it as applied
 * (docs/adr/0011-revocation-outbox.md). The reconciler of the token app completes an interrupted revocation. `revoke`,
 * `revokeGrants` and `apply` throw UnfinishedRevocationError if only PostgreSQL has the revocation.
 */
@Injectable()
export class RevocationService {
  constructor(
    private readonly records: GrantRecordStore,
    private readonly store: GrantStore,
    private readonly publisher: RevocationPublisher,
    private readonly lifetimes: Lifetimes,
    @Inject(COUNT_TRANSITION) private readonly count: CountTransition,
  ) {}

  async revoke(id: string, cause: RevocationCause | null = null): Promise<RevocationResult> {
    await this.records.revoke(id, cause);
    return this.apply([id]);
  }

  /** @param clientId null for every client */
  async revokeGrants(userId: number, clientId: string | null): Promise<RevocationResult> {
    const ids = await (clientId === null
      ? this.records.revokeEvery(userId)
      : this.records.revokeOf(userId, clientId));
    return this.apply(ids);
  }

  /**
   * Revokes, only in Redis, a grant that is not recorded in PostgreSQL, because nothing can restore such a grant.
   * @returns true if Redis has this grant, and the grant belongs to the client
   */
  async revokeUnrecorded(id: string, clientId: string): Promise<boolean> {
    if (!(await this.store.revokeOfClient(clientId, id, grantTtl(this.lifetimes)))) return false;
    this.count('revoked');
    await this.publisher.publish([id]);
    return true;
  }

  /** Applies recorded revocations. Broadcasts even if Redis fails, so that APIs introspect cached tokens again. */
  async apply(ids: readonly string[]): Promise<RevocationResult> {
    if (ids.length === 0) return { grants: 0, announced: true };
    const { failed, failure } = await this.applyToRedis(ids, 'stop');
    // Broadcasts after all batches, because waiting for NATS after each batch would delay the last batch.
    const announced = await this.publisher.publish(ids);
    if (announced) this.markInBackground(ids.filter((id) => !failed.has(id)));
    if (failure) throw new UnfinishedRevocationError(failure);
    return { grants: ids.length, announced };
  }

  /**
   * Continues after a failure, because only part of Redis may be down.
   * @returns number of revocations new to this Redis
   */
  async reconcile({ since, until, announceAll, isObsolete }: ReconcilerPass): Promise<number> {
    let changed = 0;
    let failure: Error | undefined;
    for await (const page of this.records.revocationsToApply(since, until)) {
      if (isObsolete()) return changed;
      try {
        changed += await this.reapply(page, announceAll);
      } catch (error) {
        failure ??= error as Error;
      }
    }
    if (failure) throw failure;
    return changed;
  }

  /** Broadcasts and marks revocations that were outstanding or new to this Redis. `announceAll` broadcasts all. */
  async reapply(revocations: readonly RecordedRevocation[], announceAll: boolean): Promise<number> {
    const ids = revocations.map(({ id }) => id);
    const { failed, failure, changed } = await this.applyToRedis(ids, 'continue');
    const done = revocations.filter(({ id }) => !failed.has(id));
    const due = done.filter(({ id, isApplied }) => !isApplied || changed.has(id)).map(({ id }) => id);
    const announced = await this.publisher.publish(announceAll ? done.map(({ id }) => id) : due);
    if (announced && due.length > 0) await this.records.markApplied(due);
    if (failure) throw failure;
    return changed.size;
  }

  /** @param onFailure a request stops after a failed batch; a background job continues */
  private async applyToRedis(
    ids: readonly string[],
    onFailure: 'stop' | 'continue',
  ): Promise<{ changed: Set<string>; failed: Set<string>; failure: Error | undefined }> {
    const ttl = grantTtl(this.lifetimes);
    const changed = new Set<string>();
    const failed = new Set(ids);
    let failure: Error | undefined;
    for (let start = 0; start < ids.length; start += BATCH) {
      await Promise.all(
        ids.slice(start, start + BATCH).map(async (id) => {
          try {
            if (await this.store.revoke(id, ttl)) {
              changed.add(id);
              this.count('revoked');
            }
            failed.delete(id);
          } catch (error) {
            failure ??= error as Error;
          }
        }),
      );
      if (failure && onFailure === 'stop') break;
    }
    return { changed, failed, failure };
  }

  /** Ignores failures, because the reconciler applies unmarked revocations again, which changes nothing. */
  private markInBackground(ids: readonly string[]): void {
    if (ids.length > 0) this.records.markApplied(ids).catch(() => undefined);
  }
}
