import { Injectable } from '@nestjs/common';
import { DataSource, LessThanOrEqual, MoreThan } from 'typeorm';
import { GrantRecordEntity } from './grant-record.entity.js';

/**
 * SQL condition: no use of the grant is recorded, so its code may be unredeemed. Ended grants expire at their creation.
 * The index `grants_unredeemed` repeats this condition.
 */
const UNREDEEMED = 'last_used_on IS NULL AND revoked_at IS NULL AND expires_at > created_at';

const PAGE = 500;

@Injectable()
export class UnredeemedGrantStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Yields ids of grants without a recorded use, the oldest first. @param age in seconds, by the database's clock */
  async *olderThan(age: number): AsyncGenerator<string[], void, void> {
    for (let last = { id: '', at: '-infinity' }; ;) {
      const page = await this.dataSource.query<{ id: string; at: string }[]>(
        // Selects text, because a Date has no microseconds.
        `SELECT id, created_at::text AS at FROM grants
         WHERE ${UNREDEEMED} AND created_at < now() - $1 * interval '1 second'
           AND (created_at, id) > ($2::timestamptz, $3)
         ORDER BY created_at, id LIMIT ${PAGE}`,
        [age, last.at, last.id],
      );
      if (page.length > 0) yield page.map(({ id }) => id);
      const end = page.at(-1);
      if (!end || page.length < PAGE) return;
      last = end;
    }
  }

  /**
   * Returns grants with `openid` created after `since`, whose codes may not be redeemed yet: grants of an ended
   * session, or of all sessions of a user, which ended at `at`.
   * @param skew seconds that cover the difference between clocks and the duration of a request
   */
  ofEndedSession(
    ended: { readonly session: string } | { readonly userId: number; readonly at: Date },
    since: Date,
    skew: number,
  ): Promise<Pick<GrantRecordEntity, 'id' | 'clientId'>[]> {
    const query = this.dataSource
      .createQueryBuilder(GrantRecordEntity, 'grant')
      .select(['grant.id', 'grant.clientId'])
      .where({ createdAt: MoreThan(since) })
      .andWhere("grant.session IS NOT NULL AND 'openid' = ANY (string_to_array(grant.scope, ' '))");
    if ('session' in ended) query.andWhere({ session: ended.session });
    else {
      // A grant created after `at` belongs to a new session, unless the grant's login was before `at`.
      const { userId, at } = ended;
      const second = Math.floor(at.getTime() / 1000);
      query
        .andWhere({ userId, createdAt: LessThanOrEqual(new Date(at.getTime() + skew * 1000)) })
        .andWhere('(grant.createdAt <= :at OR coalesce(grant.authTime, 0) < :second)', { at, second });
    }
    return query.getMany();
  }

  /** Ends grants, unless a use was recorded. A use that is recorded later makes a grant live again. */
  async end(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    // Locks the grants in the common lock order.
    await this.dataSource.query(
      `WITH unredeemed AS (
         SELECT id FROM grants WHERE id = ANY($1) AND ${UNREDEEMED} ORDER BY id FOR NO KEY UPDATE
       )
       UPDATE grants g SET expires_at = g.created_at FROM unredeemed WHERE g.id = unredeemed.id`,
      [ids],
    );
  }
}
