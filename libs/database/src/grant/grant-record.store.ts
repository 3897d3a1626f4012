import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, Not, Raw, type Repository } from 'typeorm';
import { GrantRecordEntity } from './grant-record.entity.js';
import { endGrants } from './end-grants.statement.js';
import type { GrantRecord } from './grant-record.js';
import { CLIENT_AND_USER, type NewGrantRecord, recordGrant } from './record-grant.statement.js';

export type { NewGrantRecord };

/** Revoked grants per query. */
const PAGE = 5_000;

/** Grant records. Uses the database's clock, so that replicas need no synchronized clocks. */
@Injectable()
export class GrantRecordStore {
  private readonly grants: Repository<GrantRecordEntity>;

  constructor(private readonly dataSource: DataSource) {
    this.grants = dataSource.getRepository(GrantRecordEntity);
  }

  /**
   * Records a grant. The same statement deletes the user's expired grants and a few old ones of other users, so storage is
   * bounded without a clean-up job. It keeps grants revoked in the last day, whose revocation may still have to reach Redis.
   *
   * All code locks client, user, grant in this order. The share locks make a concurrent delete or revocation wait: it then
   * sees the new grant and revokes it. Expired grants that are locked are left to the next call.
   *
   * @returns false, recording nothing, if the client was deleted, the user deleted or disabled, or (with `carriesOn`) a
   *   continued scope was revoked or declined in the meantime
   */
  create(record: NewGrantRecord): Promise<boolean> {
    return recordGrant(this.dataSource, record);
  }

  /**
   * As `create`, and in the same transaction revokes older grants to the client that hold a declined scope. Otherwise their
   * tokens would stay valid, and they would count as consent once the newer grant is revoked.
   *
   * @param declined scopes that the record does not include
   * @returns ids to revoke in Redis, as `revokeOf`; null if nothing was recorded or revoked
   */
  createDeclining(record: NewGrantRecord, declined: readonly string[]): Promise<string[] | null> {
    const { userId, clientId } = record;
    return this.dataSource.transaction(async (manager) => {
      const known = await manager.query<unknown[]>(CLIENT_AND_USER, [clientId, userId]);
      if (known.length === 0) return null;
      const whose = "user_id = $1 AND client_id = $2 AND string_to_array(scope, ' ') && $3::text[]";
      const ended = await endGrants(manager, whose, [userId, clientId, declined]);
      // Last: it locks expired grants in no order, and waits for none.
      await recordGrant(manager, record);
      return ended;
    });
  }

  /** Deletes a record whose code was never issued, so that it does not count as consent. */
  async withdraw(id: string): Promise<void> {
    await this.grants.delete({ id });
  }

  /** Finds a record, also a revoked or expired one; null if there is none. */
  async find(id: string): Promise<GrantRecord | null> {
    const found = await this.grants.findOneBy({ id });
    if (!found) return null;
    const { userId, clientId, scope, createdAt, revokedAt } = found;
    return { id, userId, clientId, scope, createdAt, revokedAt };
  }

  /** Revokes a grant. @returns false if it was already revoked or is unknown */
  async revoke(id: string): Promise<boolean> {
    const { affected } = await this.grants.update({ id, revokedAt: IsNull() }, { revokedAt: () => 'now()' });
    return affected === 1;
  }

  /**
   * Revokes every grant of a user to a client, including one being recorded concurrently.
   *
   * @returns their ids, and those revoked in the last ten minutes, whose revocation may not have reached Redis: calling
   *   this again after a failure repairs it
   */
  revokeOf(userId: number, clientId: string): Promise<string[]> {
    return this.revokeWhere('user_id = $1 AND client_id = $2', [userId, clientId]);
  }

  /** As `revokeOf`, for every client. */
  revokeAllOf(userId: number): Promise<string[]> {
    return this.revokeWhere('user_id = $1', [userId]);
  }

  /**
   * Ids of grants revoked at most `age()` milliseconds ago, newest first, in pages, so that the newest are not delayed by a
   * long list. An age, because the caller's clock may differ from the database's; read again for each page, as time passes.
   * Leaves grants revoked during the call to the next one.
   */
  async *revokedWithin(age: () => number): AsyncGenerator<string[], void, void> {
    for (let last = { id: '', at: 'infinity' }; ;) {
      // As text, because a Date has no microseconds.
      const page = await this.dataSource.query<{ id: string; at: string }[]>(
        `SELECT id, revoked_at::text AS at FROM grants
         WHERE revoked_at >= now() - $1::float8 * interval '1 millisecond'
           AND (revoked_at, id) < ($2::timestamptz, $3)
         ORDER BY revoked_at DESC, id DESC LIMIT ${PAGE}`,
        [age(), last.at, last.id],
      );
      yield page.map(({ id }) => id);
      const end = page.at(-1);
      if (!end || page.length < PAGE) return;
      last = end;
    }
  }

  /**
   * Age in milliseconds of the oldest uncommitted transaction that has written. Its revocations are not visible yet and will
   * carry its start time. A transaction that waits for a standby continues after its client has given up. Sees transactions
   * of other roles only with `pg_read_all_stats`.
   */
  async longestWrite(): Promise<number> {
    const [row] = await this.dataSource.query<{ ms: number }[]>(
      `SELECT coalesce(extract(epoch FROM clock_timestamp() - min(xact_start)) * 1000, 0)::float8 AS ms
       FROM pg_stat_activity
       WHERE datname = current_database() AND backend_type = 'client backend' AND backend_xid IS NOT NULL`,
    );
    return Math.max(row?.ms ?? 0, 0);
  }

  /**
   * Ids of the revoked grants of a client or user that may still have live tokens; the client or user may be deleted.
   * Includes expired grants revoked in the last day, because a recent use may not have been recorded.
   */
  async revokedOf(whose: { clientId: string } | { userId: number }): Promise<string[]> {
    const revoked = { ...whose, revokedAt: Not(IsNull()) };
    const found = await this.grants.find({
      select: { id: true },
      where: [
        { ...revoked, expiresAt: Raw((column) => `${column} > now()`) },
        { ...revoked, revokedAt: Raw((column) => `${column} > now() - interval '1 day'`) },
      ],
    });
    return found.map(({ id }) => id);
  }

  /**
   * Records the day of last use of many grants in one statement. An earlier day changes nothing, so batches may arrive in
   * any order and more than once. Skips unknown and revoked grants.
   *
   * @param uses `day` is a UTC date, YYYY-MM-DD
   */
  async touch(uses: readonly { id: string; day: string }[]): Promise<void> {
    if (uses.length === 0) return;
    // Locks rows in id order, so that overlapping batches cannot deadlock. Adds one day, because the use may have been at
    // the end of its day.
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
           expires_at = greatest(g.expires_at, (moved.day + 1)::timestamp AT TIME ZONE 'UTC' + g.lifetime)
       FROM moved WHERE g.id = moved.id`,
      [uses.map(({ id }) => id), uses.map(({ day }) => day)],
    );
  }

  private revokeWhere(whose: string, values: readonly [userId: number, ...unknown[]]): Promise<string[]> {
    return this.dataSource.transaction(async (manager) => {
      await manager.query('SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE', [values[0]]);
      return endGrants(manager, whose, values);
    });
  }
}
