import { Column, CreateDateColumn, Entity, JoinColumn, OneToOne, PrimaryColumn } from 'typeorm';
import { UserEntity } from '../user/user.entity.js';

/** From the least to the most: each role may do what the roles before it may. */
export const CONSOLE_ROLES = ['viewer', 'support', 'admin'] as const;

/** `viewer` reads, `support` also ends access (revokes, disables, logs out), `admin` may do everything. */
export type ConsoleRole = (typeof CONSOLE_ROLES)[number];

/** A user who may use the console. */
@Entity('console_operators')
export class ConsoleOperatorEntity {
  @PrimaryColumn({ name: 'user_id', type: 'integer' })
  userId: number;

  @OneToOne(() => UserEntity, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'console_operators_user_id_fkey' })
  user: UserEntity;

  @Column({ type: 'text' })
  role: ConsoleRole;

  @CreateDateColumn({ name: 'granted_at', type: 'timestamptz' })
  grantedAt: Date;
}
