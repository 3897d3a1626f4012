import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';

@Entity('client_secrets')
export class ClientSecretEntity {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ name: 'client_id', type: 'text' })
  clientId: string;

  @Column({ type: 'bytea' })
  hash: Buffer;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  createdAt: Date;

  @Column({ name: 'last_used_on', type: 'date', nullable: true })
  lastUsedOn: string | null;

  @Column({ name: 'revoked_at', type: 'timestamptz', nullable: true })
  revokedAt: Date | null;
}
