import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, Not, Raw, type Repository } from 'typeorm';
import { GrantRecordEntity } from './grant-record.entity.js';
import { endGrants } from './end-grants.statement.js';
import type { GrantRecord } from './grant-record.js';
import { CLIENT_AND_USER, type NewGrantRecord, recordGrant } from './record-grant.statement.js';

export type { NewGrantRecord };

/** So many revoked grants a query. */
const PAGE = 5_000;

/** Grants as rows. Times are the database's, so that the copies of a service need no common clock. */
@Injectable()
export class GrantRecordStore {
  private readonly grants: Repository<GrantRecordEntity>;

  constructor(private readonly dataSource: DataSource) {
    this.grants = dataSource.getRepository(GrantRecordEntity);
  }

  /**
   * Records a grant, and in the same round trip deletes the same user's expired ones, and some of anybody: storage bounds
   * itself without a clean-up job. Those revoked in the last day stay: whoever has to carry that out finds them here.
   *
   * @returns false, and nothing is recorded, when the client was deleted or the user deleted or disabled in the meantime, or
   *   with `carriesOn` when the user revoked or declined a part of it. The share locks make one of the two wait for the
   *   other: a deletion or revocation that comes later sees the grant and revokes it. Client, user, grant is the order in
   *   which everybody locks; expired grants that somebody else has locked are left to the next call.
   */
  create(record: NewGrantRecord): Promise<boolean> {
    return recordGrant(this.dataSource, record);
  }

  /**
   * As `create`, and ends the older grants to the client that hold what the user declined: both or neither, whatever
   * becomes of the answer. They would outlive the decision else: their tokens go on, and once the client has revoked the
   * newer grant they would be what counts.
   *
   * @param declined scopes that are not in the record's
   * @returns what to revoke in Redis, as `revokeOf` does; null when nothing is recorded, nor ended
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

  /** Takes back a record whose code was never handed out: it counts for no decision of the user's. */
  async withdraw(id: string): Promise<void> {
    await this.grants.delete({ id });
  }

  /** The record, revoked and expired ones too; null when there is none. */
  async find(id: string): Promise<GrantRecord | null> {
    const found = await this.grants.findOneBy({ id });
    if (!found) return null;
    const { userId, clientId, scope, createdAt, revokedAt } = found;
    return { id, userId, clientId, scope, createdAt, revokedAt };
  }

  /** Revokes once, for good. @returns false when the grant was revoked before, or is unknown */
  async revoke(id: string): Promise<boolean> {
    const { affected } = await this.grants.update({ id, revokedAt: IsNull() }, { revokedAt: () => 'now()' });
    return affected === 1;
  }

  /**
   * Revokes every grant of a user to a client, for good: also one that is just being recorded without the user.
   *
   * @returns the ids of those, and of the ones revoked in the last ten minutes: nobody can know whether their
   *   revocation reached Redis, so that calling this again after a failure repairs it
   */
  revokeOf(userId: number, clientId: string): Promise<string[]> {
    return this.#revoke('user_id = $1 AND client_id = $2', [userId, clientId]);
  }

  /** As `revokeOf`, for every client. */
  revokeAllOf(userId: number): Promise<string[]> {
    return this.#revoke('user_id = $1', [userId]);
  }

  /**
   * Ids of the grants that were revoked at most so many milliseconds ago, newest first, a page at a time: nobody waits for
   * the newest because there are many. An age, since the clock of who asks may differ from the database's; it is asked for
   * each page, as time passes between them. One that is revoked meanwhile is left to the next call.
   */
  async *revokedWithin(age: () => number): AsyncGenerator<string[], void, void> {
    for (let last = { id: '', at: 'infinity' }; ;) {
      // A text, since a Date lacks the microseconds.
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
   * For how many milliseconds the transaction has been under way that is the oldest of those that have written something and
   * are not committed: what they revoked cannot be seen yet, and will have the time of their beginning. One that waits for
   * a standby goes on when its client has given up. Those of other roles are seen with `pg_read_all_stats` only.
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
   * Ids of every revoked grant of a client or user, who may be gone, that could still have had live tokens. Expired ones
   * too that were revoked just now: a use before may not have been noted.
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
   * Notes the day of last use of many grants by one statement. A day before the noted one changes nothing, so
   * batches may arrive in any order and more than once; unknown and revoked grants are left out.
   *
   * @param uses `day` is a UTC date, YYYY-MM-DD
   */
  async touch(uses: readonly { id: string; day: string }[]): Promise<void> {
    if (uses.length === 0) return;
    // Rows are locked in the order of their ids: two batches that overlap cannot deadlock. The use may have
    // been at the very end of its day, hence the day more.
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

  #revoke(whose: string, values: readonly [userId: number, ...unknown[]]): Promise<string[]> {
    return this.dataSource.transaction(async (manager) => {
      await manager.query('SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE', [values[0]]);
      return endGrants(manager, whose, values);
    });
  }
}
