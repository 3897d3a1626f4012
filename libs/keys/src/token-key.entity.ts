import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';

/** Key ring of tokens, or of ID tokens with one algorithm. The first key of a ring signs. */
export type KeyRingName = 'token' | 'RS256' | 'ES256' | 'EdDSA';

/** Signing history of a key that is or was in a key ring. */
@Entity('token_keys')
export class TokenKeyEntity {
  /** Hash of the key: eight hexadecimal digits, or the thumbprint (RFC 7638) of a key of ID tokens. */
  @PrimaryColumn({ type: 'text' }) id: string;
  @Column({ type: 'text' }) ring: KeyRingName;
  @CreateDateColumn({ name: 'first_seen_at', type: 'timestamptz' }) firstSeenAt: Date;

  /** Time at which a process last reported that it signs with the key; null if no process did. */
  @Column({ name: 'last_signed_at', type: 'timestamptz', nullable: true }) lastSignedAt: Date | null;

  /** Upper bound for the expiry of every token signed with the key; null if no token was. */
  @Column({ name: 'needed_until', type: 'timestamptz', nullable: true }) neededUntil: Date | null;
}
