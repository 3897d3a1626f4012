import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** End of a session, or of all sessions of a user, until the codes of these sessions are void. */
@Entity('ended_sessions')
export class EndedSessionEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id: string;
  @Column({ type: 'text', nullable: true }) session: string | null;
  @Column({ name: 'user_id', type: 'integer', nullable: true }) userId: number | null;
  @Column({ name: 'ended_at', type: 'timestamptz', default: () => 'now()' }) endedAt: Date;
}
