import { Column, CreateDateColumn, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity('users')
export class UserEntity {
  @PrimaryGeneratedColumn('identity', { type: 'integer', generatedIdentity: 'BY DEFAULT' })
  id: number;

  @Column({ type: 'text' })
  username: string;

  @Column({ type: 'text' })
  email: string;

  @Column({ name: 'email_verified', type: 'boolean', default: false })
  emailVerified: boolean;

  @Column({ type: 'text' })
  name: string;

  @Column({ name: 'password_hash', type: 'text', nullable: true })
  passwordHash: string | null;

  @Column({ type: 'text', nullable: true })
  issuer: string | null;

  @Column({ name: 'external_id', type: 'text', nullable: true })
  externalId: string | null;

  @Column({ name: 'external_updated_at', type: 'timestamptz', nullable: true })
  externalUpdatedAt: Date | null;

  @Column({ name: 'avatar_url', type: 'text', nullable: true })
  avatarUrl: string | null;

  @Column({ type: 'text', nullable: true })
  bio: string | null;

  @Column({ name: 'time_format', type: 'smallint', default: 12 })
  timeFormat: 12 | 24;

  @Column({ name: 'default_schedule_id', type: 'integer', nullable: true })
  defaultScheduleId: number | null;

  @Column({ name: 'week_start', type: 'text', default: 'Sunday' })
  weekStart: string;

  @Column({ name: 'time_zone', type: 'text', default: 'UTC' })
  timeZone: string;

  @Column({ name: 'organization_id', type: 'integer', nullable: true })
  organizationId: number | null;

  @Column({ type: 'text', nullable: true })
  locale: string | null;

  @Column({ name: 'session_generation', type: 'integer', default: () => 'floor((random() * (1000000000)))' })
  sessionGeneration: number;

  @Column({ name: 'operator_disabled_at', type: 'timestamptz', nullable: true })
  operatorDisabledAt: Date | null;

  @Column({ name: 'product_disabled_at', type: 'timestamptz', nullable: true })
  productDisabledAt: Date | null;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  createdAt: Date;
}
