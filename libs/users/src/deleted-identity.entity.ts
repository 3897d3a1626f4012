import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** Hash of a deleted identity, so that a change made before the deletion does not create the user again. */
@Entity('deleted_identities')
@Index('deleted_identities_expiry', ['expiresAt'])
export class DeletedIdentityEntity {
  /** SHA-256 of issuer and external id. */
  @PrimaryColumn({ type: 'bytea' }) identity: Buffer;
  @Column({ name: 'deleted_at', type: 'timestamptz' }) deletedAt: Date;
  @Column({ name: 'expires_at', type: 'timestamptz', default: () => "(now() + '90 days')" }) expiresAt: Date;
}
