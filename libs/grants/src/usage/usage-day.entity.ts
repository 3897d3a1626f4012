import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Usage of a day in UTC, for the overview of the console. */
@Entity('usage_days')
export class UsageDayEntity {
  /** YYYY-MM-DD */
  @PrimaryColumn({ type: 'date' }) day: string;
  @Column({ name: 'live_grants', type: 'integer' }) liveGrants: number;

  /** Number of clients that got or refreshed a token on this day. */
  @Column({ name: 'active_clients', type: 'integer' }) activeClients: number;
  @Column({ name: 'counted_at', type: 'timestamptz' }) countedAt: Date;
}
