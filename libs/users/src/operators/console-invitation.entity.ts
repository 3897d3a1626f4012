import { Column, CreateDateColumn, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import type { ConsoleRole } from './console-role.js';

/** Grants a role at the first login to the console of a user with this verified email address. */
@Entity('console_invitations')
// The migration creates this, because TypeORM cannot describe an index of an expression.
@Index('console_invitations_email', { synchronize: false })
export class ConsoleInvitationEntity {
  @PrimaryGeneratedColumn('uuid') id: string;
  @Column({ type: 'text' }) email: string;
  @Column({ type: 'text' }) role: ConsoleRole;
  /** Name of the operator, as in the audit trail. */
  @Column({ name: 'invited_by', type: 'text' }) invitedBy: string;
  /** Id of the user who invited; null for an API client or the command line. */
  @Column({ type: 'integer', nullable: true }) inviter: number | null;
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' }) createdAt: Date;
  @Column({ name: 'expires_at', type: 'timestamptz' }) expiresAt: Date;
}
