import { Inject, Injectable } from '@nestjs/common';
import { GrantRecordStore, type RecordedRevocation } from '#database/grant/grant-record.store.js';
import { DependencyUnavailableError } from '#platform/dependency-unavailable.error.js';
import type { CountTransition } from './grant.js';
import { COUNT_TRANSITION, GrantStore } from './grant.store.js';
import { grantTtl, LIFETIMES, type Lifetimes } from './lifetimes.js';
import { RevocationPublisher } from './revocation.publisher.js';

export interface RevocationResult {
  /** How many grants were revoked, including those that a failed attempt had recorded and not applied. */
  readonly grants: number;
  /** Whether every process has heard of it; otherwise a cached token is accepted for 30 s at most. */
  readonly announced: boolean;
}

/** Times are milliseconds of the database's clock. */
export interface ReconcilerPass {
  readonly since: number;
  readonly until: number;
  /** Broadcast also what was applied before. */
  readonly announceAll: boolean;
  /** Checked before each page: true ends the pass. */
  readonly isObsolete: () => boolean;
}

/** Grants whose revocation is applied at once; each is one command in Redis. */
const BATCH = 500;

/** The revocation is recorded in PostgreSQL, but Redis did not apply it: tokens may still work. Revoking again completes it. */
export class UnfinishedRevocationError extends DependencyUnavailableError {
  constructor(cause: unknown) {
    super('redis', cause);
    this.name = 'UnfinishedRevocationError';
  }
}

/**
 * The one way in which grants are revoked (docs/adr/0011): recorded in PostgreSQL, then applied to Redis, then broadcast, then
 * marked as applied. After an error, or if the process dies in between, the reconciler of the token app does what is missing;
 * calling again does so at once. Every method throws UnfinishedRevocationError when only PostgreSQL has the revocation.
 */
@Injectable()
export class RevocationService {
  constructor(
    private readonly records: GrantRecordStore,
    private readonly store: GrantStore,
    private readonly publisher: RevocationPublisher,
    @Inject(LIFETIMES) private readonly lifetimes: Lifetimes,
    @Inject(COUNT_TRANSITION) private readonly count: CountTransition,
  ) {}

  /** Revokes one grant and all its tokens. */
  async revoke(id: string): Promise<RevocationResult> {
    await this.records.revoke(id);
    return this.apply([id]);
  }

  /** Revokes every grant of a user, to one client or to all (null). */
  async revokeGrants(userId: number, clientId: string | null): Promise<RevocationResult> {
    const ids = await (clientId === null
      ? this.records.revokeAllOf(userId)
      : this.records.revokeOf(userId, clientId));
    return this.apply(ids);
  }

  /**
   * Revokes a grant that PostgreSQL does not have, after a fail-over of PostgreSQL: it cannot be restored either, so that
   * Redis is enough. @returns whether Redis knows it as this client's
   */
  async revokeUnrecorded(id: string, clientId: string): Promise<boolean> {
    if (!(await this.store.revokeOfClient(clientId, id, grantTtl(this.lifetimes)))) return false;
    this.count('revoked');
    await this.publisher.publish([id]);
    return true;
  }

  /**
   * Applies revocations that are recorded: to Redis, to every cache, and in the record. When Redis fails, it goes on with the
   * broadcast: a cached token is then introspected again, and refused.
   */
  async apply(ids: readonly string[]): Promise<RevocationResult> {
    if (ids.length === 0) return { grants: 0, announced: true };
    const { failed, failure } = await this.applyToRedis(ids, 'stop');
    // Once for all of them: waiting for NATS after every batch would delay the revocation of the last.
    const announced = await this.publisher.publish(ids);
    if (announced) this.markInBackground(ids.filter((id) => !failed.has(id)));
    if (failure) throw new UnfinishedRevocationError(failure);
    return { grants: ids.length, announced };
  }

  /**
   * One pass of a reconciler: applies what is not applied yet, and again what was applied in a time. Goes on after a failure,
   * because a part of Redis may be away.
   *
   * @returns how many revocations this Redis did not know
   * @throws the first failure, after everything was tried
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

  /**
   * Applies what another process may have applied already: broadcasts and marks only what was outstanding, or what this Redis
   * did not know. One grant that fails does not hold up the others.
   *
   * @param announceAll broadcast also what was applied before
   * @returns how many revocations this Redis did not know
   * @throws DependencyUnavailableError after the others were applied
   */
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

  /** @param onFailure after a batch with a failure: a request that waits stops, a background job continues */
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

  /** The caller does not wait: what stays unmarked, the reconciler applies again, which changes nothing. */
  private markInBackground(ids: readonly string[]): void {
    if (ids.length > 0) this.records.markApplied(ids).catch(() => undefined);
  }
}
