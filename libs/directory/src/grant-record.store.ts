import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, MoreThanOrEqual, Not, Raw, type Repository } from 'typeorm';
import { GrantRecordEntity } from './grant-record.entity.js';
import type { GrantRecord } from './grant-record.js';

export interface NewGrantRecord {
  id: string;
  userId: number;
  clientId: string;
  scope: string;
  /** When the grant ends unless it is used; the time from now until then slides with its use. */
  expiresAt: Date;
}

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
   * @returns false, and nothing is recorded, when the client was deleted in the meantime. The share lock makes one
   *   of the two wait for the other: a deletion that comes later sees the grant and revokes it.
   */
  async create({ id, userId, clientId, scope, expiresAt }: NewGrantRecord): Promise<boolean> {
    const created = await this.dataSource.query<unknown[]>(
      `WITH expired AS (DELETE FROM grants WHERE user_id = $2 AND expires_at < now()),
            client AS (SELECT client_id FROM clients WHERE client_id = $3 AND deleted_at IS NULL FOR SHARE)
       INSERT INTO grants (id, user_id, client_id, scope, expires_at, lifetime)
       SELECT $1, $2, client_id, $4, $5::timestamptz, $5::timestamptz - now() FROM client
       RETURNING id`,
      [id, userId, clientId, scope, expiresAt],
    );
    return created.length === 1;
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
}
