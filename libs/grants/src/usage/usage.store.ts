import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GrantRecordEntity, UsageDayEntity } from '../records/grant-record.entity.js';
import { LIVE } from '../records/grant-record.statements.js';

export interface UsageDay {
  /** YYYY-MM-DD in UTC. */
  readonly day: string;
  readonly liveGrants: number;
  readonly activeClients: number;
  readonly countedAt: Date;
}

const KEPT_DAYS = 400;

/** Number of active clients of a day, from the index of the audit trail. */
const ACTIVE_CLIENTS = `
  SELECT count(DISTINCT client_id)::integer FROM audit_counts
  WHERE hour >= usage.day::timestamp AT TIME ZONE 'UTC' AND hour < (usage.day + 1)::timestamp AT TIME ZONE 'UTC'
    AND type IN ('token.issued', 'token.refreshed')`;

const TODAY = `(now() AT TIME ZONE 'UTC')::date`;

/** Counts that would take too long for a page, and the history of these counts. */
@Injectable()
export class UsageStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Counts the current day, unless a process has done so within `maxAgeMs`. */
  async count(maxAgeMs: number): Promise<void> {
    const isRecent = `counted_at > now() - $1 * interval '1 millisecond'`;
    const recent = await this.dataSource.query<unknown[]>(
      `SELECT FROM usage_days WHERE day = ${TODAY} AND ${isRecent}`,
      [maxAgeMs],
    );
    if (recent.length > 0) return;
    const liveGrants = await this.dataSource
      .createQueryBuilder(GrantRecordEntity, 'grant')
      .where(LIVE)
      .getCount();
    await this.dataSource.query(
      `INSERT INTO usage_days (day, live_grants, active_clients, counted_at)
       SELECT usage.day, $1, (${ACTIVE_CLIENTS}), now() FROM (SELECT ${TODAY} AS day) usage
       ON CONFLICT (day) DO UPDATE SET live_grants = excluded.live_grants, active_clients = excluded.active_clients, counted_at = now()`,
      [liveGrants],
    );
    // The last events of yesterday may have been indexed after its last count.
    await this.dataSource.query(
      `UPDATE usage_days usage SET active_clients = (${ACTIVE_CLIENTS}) WHERE day = ${TODAY} - 1`,
    );
    await this.dataSource.query(`DELETE FROM usage_days WHERE day < ${TODAY} - ${KEPT_DAYS}`);
  }

  /** Returns the counted days of the last `days` days, oldest first. */
  list(days: number): Promise<UsageDay[]> {
    return this.dataSource
      .createQueryBuilder(UsageDayEntity, 'usage')
      .where(`usage.day > ${TODAY} - CAST(:days AS integer)`, { days })
      .orderBy('usage.day')
      .getMany();
  }
}
