import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, type Repository } from 'typeorm';
import type { RevocationCause } from '#oauth/revocation-cause.js';
import { GrantRecordEntity } from './grant-record.entity.js';
import {
  BATCH,
  ISOLATION_LEVEL,
  LOCK_CLIENT_AND_USER,
  lockUser,
  type NewGrantRecord,
  recordGrant,
  revokeGrants,
} from './grant-record.statements.js';

export type { NewGrantRecord };

/** Record of a grant; authoritative for its revocation. */
export interface GrantRecord {
  /** base64url of the SHA-256 of the grant's handle; a token cannot be derived from it. */
  readonly id: string;
  readonly userId: number;
  readonly clientId: string;
  /** Space-separated (RFC 6749 3.3). */
  readonly scope: string;
  /** APIs that the tokens are valid for (RFC 8707), space-separated and sorted; null for every API. */
  readonly resources: string | null;
  /** Id of the user in the product; null if the user has none or is deleted. */
  readonly externalId: string | null;
  /** Null without the scope `openid`. */
  readonly login: { readonly authTime: number | null; readonly session: string } | null;
  /** Null for a grant that stays valid while it is used. */
  readonly endsAt: Date | null;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
  /** True if the code expired without a redemption, so that no token of the grant exists. */
  readonly isUnredeemed: boolean;
}

/** Older grants that a new grant revoked in PostgreSQL, and that the caller must revoke in Redis. */
export interface EndedGrants {
  /** Grants that include a scope that the user has now declined. Includes recent revocations, as `revokeOf` does. */
  readonly declined: readonly string[];
  readonly aboveLimit: readonly string[];
}

export interface RecordedRevocation {
  readonly id: string;
  /** True if Redis and every cache have received the revocation at least once. */
  readonly isApplied: boolean;
}

const PAGE = 500;

/** Rolls back the revocations of the transaction. */
class AlreadyRecordedError extends Error {}

/** Uses the database's clock, so that replicas do not need synchronized clocks. */
@Injectable()
export class GrantRecordStore {
  private readonly grants: Repository<GrantRecordEntity>;

  constructor(private readonly dataSource: DataSource) {
    this.grants = dataSource.getRepository(GrantRecordEntity);
  }

  /**
   * Records a grant. The same statement deletes up to 1000 expired grants of the user and up to ten expired grants of
   * any user, which bounds storage without a clean-up job, and revokes the oldest live grants above MAX_LIVE_GRANTS.
   * Grants whose revocation was not applied, or was applied in the last day, are not deleted.
   *
   * Common lock order: client, user, grants by id. Concurrent calls, deletions and revocations wait for the lock on the
   * user, and then see the new grant. Locked expired grants are left to the next call.
   * @param declined scopes that the record does not include. Revokes the older grants to the client that include one of
   * these scopes, in the same transaction. Otherwise the tokens of older grants would stay valid, and older grants
   * would count as consent once the newer grant is revoked.
   * @returns null, recording and revoking nothing, if the client or the user was deleted or disabled, if (with
   * `continuesConsent`) a scope was concurrently revoked or declined, if (with `endsAt`) the user is not an owner or
   * tester of the client in testing, or if the grant is already recorded (after two approvals of one device) and the
   * record is not `repeatableFor` this time
   */
  async create(record: NewGrantRecord, declined: readonly string[] = []): Promise<EndedGrants | null> {
    if (declined.length > 0 || record.endsAt)
      return this.createLocked(record, declined).catch((error: unknown) => {
        if (error instanceof AlreadyRecordedError) return null;
        throw error;
      });
    const aboveLimit = await recordGrant(this.dataSource, record);
    return aboveLimit && { declined: [], aboveLimit };
  }

  /**
   * Deletes a record whose code was never issued, so that it does not count as consent.
   * @param expiresAt expiry in the request that recorded the grant; keeps the record if the request was repeated
   */
  async withdraw(id: string, expiresAt?: Date): Promise<void> {
    await this.grants.delete({ id, ...(expiresAt && { expiresAt }) });
  }

  /** Also finds records of revoked and expired grants. */
  async find(id: string): Promise<GrantRecord | null> {
    const [record = null] = await this.dataSource.query<GrantRecord[]>(
      `SELECT g.id, g.user_id AS "userId", g.client_id AS "clientId", g.scope, nullif(g.resources, '') AS resources,
              u.external_id AS "externalId", g.ends_at AS "endsAt", g.created_at AS "createdAt", g.revoked_at AS "revokedAt",
              g.last_used_on IS NULL AND g.expires_at <= g.created_at AS "isUnredeemed",
              CASE WHEN g.session IS NOT NULL THEN json_build_object('authTime', g.auth_time, 'session', g.session) END AS login
       FROM grants g LEFT JOIN users u ON u.id = g.user_id
       WHERE g.id = $1`,
      [id],
    );
    return record;
  }

  async revoke(id: string, cause: RevocationCause | null = null): Promise<boolean> {
    const { affected } = await this.grants.update(
      { id, revokedAt: IsNull() },
      { revokedAt: () => 'now()', revokedFor: cause },
    );
    return affected === 1;
  }

  /**
   * Revokes a user's grants to a client, including a grant that is being recorded concurrently.
   * @returns ids of these grants, of grants revoked in the last ten minutes, and of grants whose revocation is not
   * applied yet, so that a retry repairs a failed call
   */
  revokeOf(userId: number, clientId: string): Promise<string[]> {
    return this.revokeWhere('user_id = $1 AND client_id = $2', [userId, clientId]);
  }

  /** Like `revokeOf`, for every client. */
  revokeEvery(userId: number): Promise<string[]> {
    return this.revokeWhere('user_id = $1', [userId]);
  }

  /** Returns the time of the database's clock in milliseconds, to compare with other times from the database. */
  async databaseTime(): Promise<number> {
    const [row] = await this.dataSource.query<{ ms: number }[]>(
      'SELECT floor(extract(epoch FROM now()) * 1000)::float8 AS ms',
    );
    return row?.ms ?? 0;
  }

  /**
   * Yields revocations that are not applied yet, then revocations applied in [`since`, `until`), in milliseconds of the
   * database's clock. Yields each revocation once, and the newest first, so that new revocations do not wait for a long
   * list. A revocation committed during the call is left to the next call.
   */
  async *revocationsToApply(since: number, until: number): AsyncGenerator<RecordedRevocation[], void, void> {
    const outstanding = 'grant.revokedAt IS NOT NULL AND grant.revocationAppliedAt IS NULL';
    for await (const ids of this.pages('revokedAt', outstanding))
      yield ids.map((id) => ({ id, isApplied: false }));
    const recent = `grant.revocationAppliedAt >= to_timestamp(:since::float8 / 1000)
                AND grant.revocationAppliedAt < to_timestamp(:until::float8 / 1000)`;
    for await (const ids of this.pages('revocationAppliedAt', recent, { since, until }))
      yield ids.map((id) => ({ id, isApplied: true }));
  }

  async markApplied(ids: readonly string[]): Promise<void> {
    // Locks the grants in the common lock order.
    for (let start = 0; start < ids.length; start += BATCH)
      await this.dataSource.query(
        `WITH applied AS (
           SELECT id FROM grants WHERE id = ANY($1) AND revoked_at IS NOT NULL ORDER BY id FOR NO KEY UPDATE
         )
         UPDATE grants g SET revocation_applied_at = now() FROM applied WHERE g.id = applied.id`,
        [ids.slice(start, start + BATCH)],
      );
  }

  /**
   * Returns ids of revoked grants that may have live tokens. Includes expired grants for a day after their
   * revocation, because a recent use may be unrecorded.
   */
  async revokedOf(owner: { clientId: string } | { userId: number }): Promise<string[]> {
    // Reads raw rows, because creating 100,000 entities would block the event loop for a quarter of a second.
    const rows = await this.grants
      .createQueryBuilder('grant')
      .select('grant.id', 'id')
      .where(owner)
      .andWhere('grant.revokedAt IS NOT NULL')
      .andWhere("(grant.expiresAt > now() OR grant.revokedAt > now() - interval '1 day')")
      .getRawMany<{ id: string }>();
    return rows.map(({ id }) => id);
  }

  /**
   * Ignores days before the recorded day, and unknown or revoked grants.
   * @param uses `day` is a UTC date, YYYY-MM-DD
   */
  async touch(uses: readonly { id: string; day: string }[]): Promise<void> {
    if (uses.length === 0) return;
    // Locks in id order, so that overlapping batches cannot deadlock. Adds a day, as the use may be at the day's end.
    await this.dataSource.query(
      `WITH uses AS (
         SELECT id, max(day) AS day FROM unnest($1::text[], $2::date[]) AS use (id, day) GROUP BY id
       ), moved AS (
         SELECT g.id, uses.day FROM grants g JOIN uses USING (id)
         WHERE g.revoked_at IS NULL AND (g.last_used_on IS NULL OR g.last_used_on < uses.day)
         ORDER BY g.id FOR NO KEY UPDATE OF g
       )
       UPDATE grants g
       SET last_used_on = greatest(g.last_used_on, moved.day),
           expires_at = least(g.ends_at, greatest(g.expires_at, (moved.day + 1)::timestamp AT TIME ZONE 'UTC' + g.lifetime))
       FROM moved WHERE g.id = moved.id`,
      [uses.map(({ id }) => id), uses.map(({ day }) => day)],
    );
  }

  private async *pages(
    time: 'revokedAt' | 'revocationAppliedAt',
    condition: string,
    values: Readonly<Record<string, number>> = {},
  ): AsyncGenerator<string[], void, void> {
    for (let last = { id: '', at: 'infinity' }; ;) {
      const page = await this.grants
        .createQueryBuilder('grant')
        .select('grant.id', 'id')
        // Selects text, because a Date has no microseconds.
        .addSelect(`CAST(grant.${time} AS text)`, 'at')
        .where(condition, values)
        .andWhere(`(grant.${time}, grant.id) < (:at::timestamptz, :id)`, last)
        .orderBy(`grant.${time}`, 'DESC')
        .addOrderBy('grant.id', 'DESC')
        .limit(PAGE)
        .getRawMany<{ id: string; at: string }>();
      if (page.length > 0) yield page.map(({ id }) => id);
      const end = page.at(-1);
      if (!end || page.length < PAGE) return;
      last = end;
    }
  }

  private createLocked(record: NewGrantRecord, scopes: readonly string[]): Promise<EndedGrants | null> {
    const { userId, clientId } = record;
    return this.dataSource.transaction(ISOLATION_LEVEL, async (manager) => {
      const locked = await manager.query<unknown[]>(LOCK_CLIENT_AND_USER, [clientId, userId]);
      if (locked.length === 0) return null;
      const condition = "user_id = $1 AND client_id = $2 AND string_to_array(scope, ' ') && $3::text[]";
      const declined =
        scopes.length === 0
          ? []
          : await revokeGrants(manager, condition, [userId, clientId, scopes], 'declined');
      // Runs last, because this statement locks expired grants in no particular order, skipping locked rows.
      const aboveLimit = await recordGrant(manager, record);
      if (!aboveLimit) throw new AlreadyRecordedError();
      return { declined, aboveLimit };
    });
  }

  private revokeWhere(condition: string, values: readonly [userId: number, ...unknown[]]): Promise<string[]> {
    return this.dataSource.transaction(ISOLATION_LEVEL, async (manager) => {
      await lockUser(manager, values[0]);
      return revokeGrants(manager, condition, values, 'user');
    });
  }
}
