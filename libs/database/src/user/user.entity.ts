import { Column, CreateDateColumn, Entity, Index, PrimaryGeneratedColumn, VersionColumn } from 'typeorm';
import type { ConsoleRole } from './console-role.js';

@Entity('users')
@Index('users_console_role', ['id'], { where: 'console_role IS NOT NULL' })
@Index('users_identity_unique', ['issuer', 'externalId'], { unique: true, where: 'issuer IS NOT NULL' })
// The migration creates these, because TypeORM cannot describe indexes of expressions.
@Index('users_email_unique', { synchronize: false })
@Index('users_username_unique', { synchronize: false })
@Index('users_username', { synchronize: false })
@Index('users_password_kind', { synchronize: false })
export class UserEntity {
  @PrimaryGeneratedColumn('identity', { type: 'integer', generatedIdentity: 'BY DEFAULT' }) id: number;

  @VersionColumn({ type: 'integer', default: 1 }) version: number;
  @Column({ type: 'text' }) username: string;
  @Column({ type: 'text' }) email: string;
  @Column({ name: 'email_verified', type: 'boolean', default: false }) emailVerified: boolean;
  @Column({ type: 'text' }) name: string;
  @Column({ name: 'password_hash', type: 'text', nullable: true }) passwordHash: string | null;
  @Column({ type: 'text', nullable: true }) issuer: string | null;
  @Column({ name: 'external_id', type: 'text', nullable: true }) externalId: string | null;

  @Column({ name: 'external_updated_at', type: 'timestamptz', nullable: true })
  externalUpdatedAt: Date | null;

  @Column({ name: 'avatar_url', type: 'text', nullable: true }) avatarUrl: string | null;
  @Column({ type: 'text', nullable: true }) bio: string | null;
  @Column({ name: 'time_format', type: 'smallint', default: 12 }) timeFormat: 12 | 24;
  @Column({ name: 'default_schedule_id', type: 'integer', nullable: true }) defaultScheduleId: number | null;
  @Column({ name: 'week_start', type: 'text', default: 'Sunday' }) weekStart: string;
  @Column({ name: 'time_zone', type: 'text', default: 'UTC' }) timeZone: string;
  @Column({ name: 'organization_id', type: 'integer', nullable: true }) organizationId: number | null;
  @Column({ type: 'text', nullable: true }) locale: string | null;

  @Column({ name: 'session_generation', type: 'integer', default: () => 'floor((random() * (1000000000)))' })
  sessionGeneration: number;

  /** Null without a role. Not selected by default. */
  @Column({ name: 'console_role', type: 'text', nullable: true, select: false })
  consoleRole: ConsoleRole | null;

  @Column({ name: 'operator_disabled_at', type: 'timestamptz', nullable: true })
  operatorDisabledAt: Date | null;

  @Column({ name: 'product_disabled_at', type: 'timestamptz', nullable: true })
  productDisabledAt: Date | null;

  /** PostgreSQL generates the earlier of both times. With `generatedType`, TypeORM would create a metadata table. */
  @Column({ name: 'disabled_at', type: 'timestamptz', nullable: true, insert: false, update: false })
  disabledAt: Date | null;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' }) createdAt: Date;
}
