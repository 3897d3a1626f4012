import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, MoreThanOrEqual, Not, Raw, type Repository } from 'typeorm';
import { GrantRecordEntity } from './grant-record.entity.js';
import type { GrantRecord } from './grant-record.js';

export interface NewGrantRecord {
  id: string;
  userId: number;
  clientId: string;
  /** What the user allowed. */
  scope: string;
  /** What the client had asked for; what of it is not in `scope`, the user declined. */
  askedScope: string;
  /** When the grant ends unless it is used; the time from now until then slides with its use. */
  expiresAt: Date;
  /**
   * Whether it only carries on what the user allowed before, without being asked: then it is not recorded when one of
   * its scopes is in no live grant to the client any more.
   */
  carriesOn?: boolean;
}

/**
 * What a grant that carries on is joined with; each part needs the one before, so that they are locked in that order,
 * and of each scope the newest grant that holds it, in the order of ids, as everybody locks grants.
 */
const LIVE = `
  CROSS JOIN LATERAL (
    SELECT u.id AS user_id FROM users u WHERE u.id = $2 AND client.client_id IS NOT NULL FOR SHARE
  ) account
  CROSS JOIN LATERAL (
    SELECT string_agg(scope, ' ') AS scope FROM (
      SELECT g.scope FROM grants g
      WHERE g.revoked_at IS NULL AND g.expires_at > now() AND g.id IN (
        SELECT newest.id FROM unnest(string_to_array($4, ' ')) token CROSS JOIN LATERAL (
          SELECT id FROM grants
          WHERE user_id = account.user_id AND client_id = client.client_id
            AND revoked_at IS NULL AND expires_at > now() AND token = ANY(string_to_array(scope, ' '))
          ORDER BY created_at DESC LIMIT 1
        ) newest
      )
      ORDER BY g.id FOR SHARE
    ) held
  ) carried
  WHERE string_to_array($4, ' ') <@ string_to_array(carried.scope, ' ')`;

/** Grants as rows. Times are the database's, so that the copies of a service need no common clock. */
@Injectable()
export class GrantRecordStore {
  private readonly grants: Repository<GrantRecordEntity>;

  constructor(private readonly dataSource: DataSource) {
    this.grants = dataSource.getRepository(GrantRecordEntity);
  }

  /**
   * Records a grant, and in the same round trip deletes the same user's expired ones: storage bounds itself
   * without a clean-up job.
   *
   * @returns false, and nothing is recorded, when the client was deleted in the meantime, or with `carriesOn` when the
   *   user revoked or declined a part of it. The share locks make one of the two wait for the other: a deletion or
   *   revocation that comes later sees the grant and revokes it. Client, user, grant is the order in which everybody
   *   locks; expired grants that somebody else has locked are left to the next call.
   */
  async create({
    id,
    userId,
    clientId,
    scope,
    askedScope,
    expiresAt,
    carriesOn = false,
  }: NewGrantRecord): Promise<boolean> {
    const created = await this.dataSource.query<unknown[]>(
      `WITH expired AS (
              DELETE FROM grants WHERE id IN (
                SELECT id FROM grants WHERE user_id = $2 AND expires_at < now() FOR UPDATE SKIP LOCKED
              )
            ),
            client AS (SELECT client_id FROM clients WHERE client_id = $3 AND deleted_at IS NULL FOR SHARE)
       INSERT INTO grants (id, user_id, client_id, scope, asked_scope, expires_at, lifetime)
       SELECT $1, $2, client_id, $4, $5, $6::timestamptz, $6::timestamptz - now() FROM client
       ${carriesOn ? LIVE : ''}
       RETURNING id`,
      [id, userId, clientId, scope, askedScope, expiresAt],
    );
    return created.length === 1;
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
    return this.revokeWhere('user_id = $1 AND client_id = $2', [userId, clientId]);
  }

  /** As `revokeOf`, only those that hold one of these scopes. */
  revokeWith(scopes: readonly string[], userId: number, clientId: string): Promise<string[]> {
    const whose = "user_id = $1 AND client_id = $2 AND string_to_array(scope, ' ') && $3::text[]";
    return this.revokeWhere(whose, [userId, clientId, scopes]);
  }

  /** As `revokeOf`, for every client. */
  revokeAllOf(userId: number): Promise<string[]> {
    return this.revokeWhere('user_id = $1', [userId]);
  }

  /** Ids of the grants revoked at this time or later, oldest first. */
  async revokedSince(date: Date): Promise<string[]> {
    const found = await this.grants.find({
      select: { id: true, revokedAt: true },
      where: { revokedAt: MoreThanOrEqual(date) },
      order: { revokedAt: 'ASC' },
    });
    return found.map(({ id }) => id);
  }

  /** Ids of every revoked grant of a client that could still have had live tokens. */
  async revokedOf(clientId: string): Promise<string[]> {
    const found = await this.grants.find({
      select: { id: true },
      where: { clientId, revokedAt: Not(IsNull()), expiresAt: Raw((column) => `${column} > now()`) },
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

  /**
   * Expired ones too: a use just before may not be noted yet. Locked in the order of ids, as batches of uses are. Of two
   * at once the one that waited reads the rows anew and returns the same ids: neither tells a user that all is over
   * while the other one fails. The user is locked by a statement before, so that this one sees what it waited for.
   */
  private revokeWhere(whose: string, values: readonly [userId: number, ...unknown[]]): Promise<string[]> {
    return this.dataSource.transaction(async (manager) => {
      await manager.query('SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE', [values[0]]);
      const [revoked] = await manager.query<[{ id: string }[], number]>(
        `WITH maybe_live AS (
         SELECT id FROM grants
         WHERE ${whose} AND (revoked_at IS NULL OR revoked_at > now() - interval '10 minutes')
         ORDER BY id FOR NO KEY UPDATE
       )
       UPDATE grants g SET revoked_at = coalesce(g.revoked_at, now()) FROM maybe_live
       WHERE g.id = maybe_live.id RETURNING g.id`,
        [...values],
      );
      return revoked.map(({ id }) => id);
    });
  }
}
