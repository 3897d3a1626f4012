import {
  Column,
  CreateDateColumn,
  Entity,
  Index,
  JoinColumn,
  ManyToOne,
  PrimaryGeneratedColumn,
} from 'typeorm';

export const MAIL_KINDS = [
  'invitation',
  'question',
  'approved',
  'rejected',
  'secret_expires',
  'secret_expired',
  'receiver_paused',
  'digest',
] as const;
export type MailKind = (typeof MAIL_KINDS)[number];

/** `dropped`: no longer needed, or without a verified address. `expired`: given up after three days. */
export const MAIL_OUTCOMES = ['sent', 'refused', 'dropped', 'expired'] as const;
export type MailOutcome = (typeof MAIL_OUTCOMES)[number];

/**
 * A mail: waiting, then finished. Has neither an address nor a text nor a token, which are read or computed when it is
 * sent. Refers to users and clients by the names of their tables.
 */
@Entity('mails')
@Index('mails_due', ['dueAt'], { where: 'outcome IS NULL' })
@Index('mails_user', ['userId', 'createdAt'])
@Index('mails_client', ['clientId'])
@Index('mails_age', ['createdAt'])
@Index('mails_recipient', ['recipient'], { where: 'recipient IS NOT NULL' })
export class MailEntity {
  @PrimaryGeneratedColumn('uuid') id: string;
  @Column({ type: 'text' }) kind: MailKind;

  /** Identifies a mail that is sent once, like a reminder; null if a trigger inserts the mail. */
  @Column({ type: 'text', nullable: true, unique: true }) cause: string | null;

  /** Recipient; the inviter of an invitation; null for the operator. */
  @Column({ name: 'user_id', type: 'integer', nullable: true }) userId: number | null;

  @ManyToOne('users', { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'mails_user_id_fkey' })
  user?: unknown;

  @Column({ name: 'client_id', type: 'text', nullable: true }) clientId: string | null;

  @ManyToOne('clients', { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'client_id', foreignKeyConstraintName: 'mails_client_id_fkey' })
  client?: unknown;

  /** Id of the invitation, request or secret. */
  @Column({ type: 'uuid', nullable: true }) about: string | null;

  /**
   * First four bytes of SHA-256 of the address of an invitation without its part from `+`, which limit the mails to
   * one address. Too short to identify an address, and null after a day.
   */
  @Column({ type: 'integer', nullable: true }) recipient: number | null;
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' }) createdAt: Date;

  /** Time of the next attempt; the end of the lease during an attempt. */
  @Column({ name: 'due_at', type: 'timestamptz', default: () => 'now()' }) dueAt: Date;
  @Column({ type: 'integer', default: 0 }) attempts: number;
  /** Answer to the latest attempt. */
  @Column({ type: 'text', nullable: true }) answer: string | null;
  @Column({ type: 'text', nullable: true }) outcome: MailOutcome | null;
  @Column({ name: 'finished_at', type: 'timestamptz', nullable: true }) finishedAt: Date | null;
}
