import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';

/** What is known of a key of the ring that was configured at some time. */
@Entity('token_keys')
export class TokenKeyEntity {
  /** Eight hexadecimal digits, a hash of the key. */
  @PrimaryColumn({ type: 'text' })
  id: string;

  @CreateDateColumn({ name: 'first_seen_at', type: 'timestamptz' })
  firstSeenAt: Date;

  /** When a process recorded last that it signs with the key; null if none has. */
  @Column({ name: 'last_signed_at', type: 'timestamptz', nullable: true })
  lastSignedAt: Date | null;

  /** When the last token that was signed with the key expires, at the latest; null if none was. */
  @Column({ name: 'needed_until', type: 'timestamptz', nullable: true })
  neededUntil: Date | null;
}
