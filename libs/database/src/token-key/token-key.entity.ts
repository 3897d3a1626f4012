import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';

/** Signing history of a key that was in the key ring at some time. */
@Entity('token_keys')
export class TokenKeyEntity {
  /** Hash of the key, eight hexadecimal digits. */
  @PrimaryColumn({ type: 'text' })
  id: string;

  @CreateDateColumn({ name: 'first_seen_at', type: 'timestamptz' })
  firstSeenAt: Date;

  /** When a process last reported signing with the key; null if never. */
  @Column({ name: 'last_signed_at', type: 'timestamptz', nullable: true })
  lastSignedAt: Date | null;

  /** Upper bound for the expiry of every token signed with the key; null if none was. */
  @Column({ name: 'needed_until', type: 'timestamptz', nullable: true })
  neededUntil: Date | null;
}
