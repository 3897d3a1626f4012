import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** Number of a client's events with the same type and cause, per hour or (for older days) per day. */
@Entity('audit_counts')
@Index('audit_counts_hour', ['hour'])
@Index('audit_counts_refusals', { synchronize: false })
@Index('audit_counts_later_hours', { synchronize: false })
export class AuditCountEntity {
  @PrimaryColumn({ name: 'client_id', type: 'text' }) clientId: string;
  @PrimaryColumn({ type: 'timestamptz' }) hour: Date;
  @PrimaryColumn({ type: 'text' }) type: string;

  /** `check` and `error` are empty if the event is not a refusal. */
  @PrimaryColumn({ type: 'text' }) check: string;
  @PrimaryColumn({ type: 'text' }) error: string;
  @Column({ type: 'integer' }) count: number;
  @Column({ name: 'first_at', type: 'timestamptz' }) firstAt: Date;
  @Column({ name: 'last_at', type: 'timestamptz' }) lastAt: Date;

  /** Latest reference of these events; null if no event has a reference. */
  @Column({ type: 'text', nullable: true }) reference: string | null;
}
