import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, type Repository } from 'typeorm';
import { GrantRecordEntity } from './grant-record.entity.js';
import {
  allowedScopesWith,
  BATCH,
  CLIENT_AND_USER,
  type NewGrantRecord,
  recordGrant,
  revokeGrants,
} from './grant-record.statements.js';

export type { NewGrantRecord };

/** What a user allowed to a client; PostgreSQL decides whether it is revoked. */
export interface GrantRecord {
  /** base64url of the SHA-256 of the grant's handle: no token can be made from it. */
  readonly id: string;
  readonly userId: number;
  readonly clientId: string;
  /** Space-separated (RFC 6749 3.3); empty when no scope was asked for. */
  readonly scope: string;
  /** The APIs that its tokens are for (RFC 8707), space-separated and sorted; null for every API. */
  readonly resources: string | null;
  /** The product's own id of the user; null for a user without one, and for a deleted user. */
  readonly externalId: string | null;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}

/** A revocation in PostgreSQL. */
export interface RecordedRevocation {
  readonly id: string;
  /** Whether Redis and every cache have it, or had it once. */
  readonly isApplied: boolean;
}

/** Revoked grants per query. */
const PAGE = 500;
/** Whatever the server's default: the statements after a lock see what its previous holder committed. */
const LEVEL = 'READ COMMITTED';

/** Grant records. Uses the database's clock, so that replicas need no synchronized clocks. */
@Injectable()
export class GrantRecordStore {
  private readonly grants: Repository<GrantRecordEntity>;

  constructor(private readonly dataSource: DataSource) {
    this.grants = dataSource.getRepository(GrantRecordEntity);
  }

  /**
   * Records a grant. The same statement deletes the user's expired grants, at most 1000, and a few old ones of other users, so
   * storage is bounded without a clean-up job. It keeps grants whose revocation was applied in the last day, or is not yet.
   *
   * All code locks client, user, grant in this order. The share locks make a concurrent delete or revocation wait: it then
   * sees the new grant and revokes it. Expired grants that are locked are left to the next call.
   *
   * @returns false, recording nothing, if the client or the user was deleted or disabled, or (with `continuesConsent`) a
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
    return this.dataSource.transaction(LEVEL, async (manager) => {
      const known = await manager.query<unknown[]>(CLIENT_AND_USER, [clientId, userId]);
      if (known.length === 0) return null;
      const scopes = await allowedScopesWith(manager, userId, clientId, declined);
      const whose = 'user_id = $1 AND client_id = $2 AND scope = ANY($3)';
      const ended = scopes.length > 0 ? await revokeGrants(manager, whose, [userId, clientId, scopes]) : [];
      // Last: it locks expired grants in no order, and waits for none.
      await recordGrant(manager, record);
      return ended;
    });
  }

  /** Deletes a record whose code was never issued, so that it does not count as consent. */
  async withdraw(id: string): Promise<void> {
    await this.grants.delete({ id });
  }

  /** Finds a record, including revoked and expired ones; null if the id is unknown. */
  async find(id: string): Promise<GrantRecord | null> {
    const [found = null] = await this.dataSource.query<GrantRecord[]>(
      `SELECT g.id, g.user_id AS "userId", g.client_id AS "clientId", g.scope, nullif(g.resources, '') AS resources,
              u.external_id AS "externalId", g.created_at AS "createdAt", g.revoked_at AS "revokedAt"
       FROM grants g LEFT JOIN users u ON u.id = g.user_id
       WHERE g.id = $1`,
      [id],
    );
    return found;
  }

  /** Revokes a grant. @returns false if it was already revoked or is unknown */
  async revoke(id: string): Promise<boolean> {
    const { affected } = await this.grants.update({ id, revokedAt: IsNull() }, { revokedAt: () => 'now()' });
    return affected === 1;
  }

  /**
   * Revokes every grant of a user to a client, including one being recorded concurrently.
   *
   * @returns their ids, those not applied to Redis yet, and those revoked in the last ten minutes: calling this again after a
   *   failure repairs it
   */
  revokeOf(userId: number, clientId: string): Promise<string[]> {
    return this.revokeWhere('user_id = $1 AND client_id = $2', [userId, clientId]);
  }

  /** As `revokeOf`, for every client. */
  revokeAllOf(userId: number): Promise<string[]> {
    return this.revokeWhere('user_id = $1', [userId]);
  }

  /** The database's clock, in milliseconds. Compare it with times of the database only. */
  async databaseTime(): Promise<number> {
    const [row] = await this.dataSource.query<{ ms: number }[]>(
      'SELECT floor(extract(epoch FROM now()) * 1000)::float8 AS ms',
    );
    return row?.ms ?? 0;
  }

  /**
   * Revocations that are not applied yet, then those applied from `since` until before `until` (milliseconds of the database's
   * clock); newest first and in pages, so that the newest do not wait for a long list. Each is met once, though the caller
   * marks them meanwhile. A revocation that is committed during the call is left to the next one.
   */
  async *revocationsToApply(since: number, until: number): AsyncGenerator<RecordedRevocation[], void, void> {
    const outstanding = 'revoked_at IS NOT NULL AND revocation_applied_at IS NULL';
    for await (const ids of this.pages('revoked_at', outstanding, []))
      yield ids.map((id) => ({ id, isApplied: false }));
    const recent = `revocation_applied_at >= to_timestamp($3::float8 / 1000)
                AND revocation_applied_at < to_timestamp($4::float8 / 1000)`;
    for await (const ids of this.pages('revocation_applied_at', recent, [since, until]))
      yield ids.map((id) => ({ id, isApplied: true }));
  }

  /** Marks recorded revocations as applied: Redis and every cache have them. */
  async markApplied(ids: readonly string[]): Promise<void> {
    // Locks rows in id order, as all code does.
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
   * Ids of the revoked grants of a client or user that may still have live tokens; the client or user may be deleted.
   * Includes expired grants revoked in the last day, because a recent use may not have been recorded.
   */
  async revokedOf(whose: { clientId: string } | { userId: number }): Promise<string[]> {
    const [column, value] = 'clientId' in whose ? ['client_id', whose.clientId] : ['user_id', whose.userId];
    // Not by the repository: to make 100,000 entities stops the event loop for a quarter of a second.
    const found = await this.dataSource.query<{ id: string }[]>(
      `SELECT id FROM grants
       WHERE ${column} = $1 AND revoked_at IS NOT NULL
         AND (expires_at > now() OR revoked_at > now() - interval '1 day')`,
      [value],
    );
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

  /** Ids of the grants that a condition names, in descending order of a time; $1 and $2 are the end of the page before. */
  private async *pages(
    time: 'revoked_at' | 'revocation_applied_at',
    condition: string,
    values: readonly number[],
  ): AsyncGenerator<string[], void, void> {
    for (let last = { id: '', at: 'infinity' }; ;) {
      // As text, because a Date has no microseconds.
      const page = await this.dataSource.query<{ id: string; at: string }[]>(
        `SELECT id, ${time}::text AS at FROM grants
         WHERE ${condition} AND (${time}, id) < ($1::timestamptz, $2)
         ORDER BY ${time} DESC, id DESC LIMIT ${PAGE}`,
        [last.at, last.id, ...values],
      );
      if (page.length > 0) yield page.map(({ id }) => id);
      const end = page.at(-1);
      if (!end || page.length < PAGE) return;
      last = end;
    }
  }

  private revokeWhere(whose: string, values: readonly [userId: number, ...unknown[]]): Promise<string[]> {
    return this.dataSource.transaction(LEVEL, async (manager) => {
      await manager.query('SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE', [values[0]]);
      return revokeGrants(manager, whose, values);
    });
  }
}
