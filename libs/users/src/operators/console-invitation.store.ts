import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ISOLATION_LEVEL } from '#grants/records/grant-record.statements.js';
import { ConsoleInvitationEntity } from '../user.entity.js';
import { isSameEmail } from './console-operator.statements.js';
import type { ConsoleRole } from './console-role.js';

export interface AcceptedInvitation {
  readonly id: string;
  readonly role: ConsoleRole;
}

/** An admin who was disabled or lost the role may have invited an accomplice. */
const INVITER_IS_ADMIN = `(inviter IS NULL OR EXISTS (
  SELECT FROM users u WHERE u.id = inviter AND u.console_role = 'admin' AND u.disabled_at IS NULL))`;

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

@Injectable()
export class ConsoleInvitationStore {
  constructor(private readonly dataSource: DataSource) {}

  list(): Promise<ConsoleInvitationEntity[]> {
    return this.dataSource
      .createQueryBuilder(ConsoleInvitationEntity, 'invitation')
      .where('invitation.expiresAt > now()')
      .andWhere(INVITER_IS_ADMIN)
      .orderBy('invitation.createdAt')
      .getMany();
  }

  /**
   * Replaces an earlier invitation of the address, and deletes expired invitations.
   * @returns null if a user with this verified address already has a role
   */
  async create(invitation: {
    readonly email: string;
    readonly role: ConsoleRole;
    readonly invitedBy: string;
    readonly inviter: number | null;
  }): Promise<ConsoleInvitationEntity | null> {
    const { email } = invitation;
    return this.dataSource.transaction(ISOLATION_LEVEL, async (manager) => {
      // Concurrent invitations of one address would violate its unique index.
      await manager.query('LOCK TABLE console_invitations IN SHARE ROW EXCLUSIVE MODE');
      const [operator] = await manager.query<object[]>(
        `SELECT FROM users WHERE console_role IS NOT NULL AND email_verified AND ${isSameEmail('email', '$1::text')}`,
        [email],
      );
      if (operator) return null;
      await manager.query(
        `DELETE FROM console_invitations WHERE expires_at <= now() OR ${isSameEmail('email', '$1::text')}`,
        [email],
      );
      const { identifiers } = await manager.insert(ConsoleInvitationEntity, {
        ...invitation,
        expiresAt: () => `now() + interval '7 days'`,
      });
      return manager.findOneByOrFail(ConsoleInvitationEntity, { id: (identifiers[0] as { id: string }).id });
    });
  }

  async isInvited(email: string): Promise<boolean> {
    return this.dataSource
      .createQueryBuilder(ConsoleInvitationEntity, 'invitation')
      .where(`invitation.expiresAt > now() AND ${isSameEmail('invitation.email', ':email::text')}`, { email })
      .getExists();
  }

  async delete(id: string): Promise<boolean> {
    if (!UUID.test(id)) return false;
    return (await this.dataSource.getRepository(ConsoleInvitationEntity).delete({ id })).affected === 1;
  }

  /** Accepts the invitation of an enabled user without a role, at most once. @returns null without an invitation */
  async accept(userId: number): Promise<AcceptedInvitation | null> {
    const [accepted] = await this.dataSource.query<AcceptedInvitation[]>(
      `WITH invited AS (
         SELECT id, email FROM users
         WHERE id = $1 AND email_verified AND disabled_at IS NULL AND console_role IS NULL FOR NO KEY UPDATE
       ), accepted AS (
         DELETE FROM console_invitations i USING invited
         WHERE ${isSameEmail('i.email', 'invited.email')} AND i.expires_at > now() AND ${INVITER_IS_ADMIN}
         RETURNING i.id, i.role, invited.id AS user_id
       ), updated AS (
         UPDATE users u SET console_role = accepted.role, version = u.version + 1 FROM accepted WHERE u.id = accepted.user_id
       )
       SELECT id, role FROM accepted`,
      [userId],
    );
    return accepted ?? null;
  }
}
