import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, MoreThan } from 'typeorm';
import { type AdministrationError, refused } from '#platform/validation/administration.error.js';
import { violatedCheck } from '#platform/postgres/postgres-errors.js';
import { problem } from '#platform/validation/problem.js';
import { UserEntity } from '#users/user.entity.js';
import { lockClient } from '../client.statements.js';
import {
  ClientInvitationEntity,
  ClientOwnerEntity,
  ClientTesterEntity,
  type MemberKind,
} from './client-owner.entity.js';
import { limitReached, lockUserLimits, MAIL_LIMITS, OWNER_LIMITS } from './owner-limits.statements.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    last_owner: { readonly clientId: string };
    member_unknown: { readonly clientId: string; readonly userId: number };
    client_invitation_unknown: null;
    client_not_in_testing: { readonly clientId: string };
    client_without_owners: { readonly clientId: string };
  }
}

/** Owner or tester of an application. */
export interface Member {
  readonly userId: number;
  readonly name: string;
  readonly email: string;
  readonly kind: MemberKind;
  readonly since: Date;
}

/** Application in testing, as a tester sees it. */
export interface TestedClient {
  readonly clientId: string;
  readonly name: string;
  readonly since: Date;
}

export interface Owner {
  readonly userId: number;
  readonly username: string;
  readonly email: string;
  readonly disabledAt: Date | null;
  readonly addedAt: Date;
}

export interface OwnerlessClient {
  readonly clientId: string;
  readonly name: string;
}

/** Invitation, as the holder of its token sees it. */
export interface ReceivedInvitation {
  /** Name of the application. */
  readonly name: string;
  readonly kind: MemberKind;
  /** Name of the owner who invites. */
  readonly inviter: string;
}

export interface AcceptedMembership {
  readonly clientId: string;
  readonly name: string;
  readonly kind: MemberKind;
}

const ENTITIES = { owner: ClientOwnerEntity, tester: ClientTesterEntity } as const;
const MAX_OWNERLESS = 1_000;

/** Owners, testers and invitations. Each change locks the client. */
@Injectable()
export class ClientMemberStore {
  constructor(private readonly dataSource: DataSource) {}

  /** @returns id of the user of `asDeveloper`; null if the grant is not valid, or the user is disabled */
  async currentDeveloper(): Promise<number | null> {
    const [row] = await this.dataSource.query<{ id: number | null }[]>('SELECT current_developer() AS id');
    return row?.id ?? null;
  }

  /** Returns the owners for an operator. */
  owners(clientId: string): Promise<Owner[]> {
    return this.dataSource.query<Owner[]>(
      `SELECT u.id AS "userId", u.username, u.email, u.disabled_at AS "disabledAt", o.added_at AS "addedAt"
       FROM client_owners o JOIN users u ON u.id = o.user_id WHERE o.client_id = $1 ORDER BY o.added_at, u.id`,
      [clientId],
    );
  }

  /** Returns applications of developers without an enabled owner, at most 1,000. */
  withoutOwner(): Promise<OwnerlessClient[]> {
    return this.dataSource.query<OwnerlessClient[]>(
      `SELECT c.client_id AS "clientId", c.name FROM clients c
       WHERE c.deleted_at IS NULL AND NOT c.first_party AND NOT c.developer_portal AND c.document_due_at IS NULL
         AND c.grant_type = 'authorization_code' AND NOT EXISTS (
           SELECT FROM client_owners o JOIN users u ON u.id = o.user_id
           WHERE o.client_id = c.client_id AND u.disabled_at IS NULL)
       ORDER BY c.created_at, c.client_id LIMIT ${MAX_OWNERLESS}`,
    );
  }

  /** Returns owners and testers, oldest first; empty if the user of the transaction does not own the client. */
  team(clientId: string): Promise<Member[]> {
    return this.dataSource.query<Member[]>(
      'SELECT user_id AS "userId", name, email, kind, since FROM client_team($1)',
      [clientId],
    );
  }

  /** Adds an owner for an operator. @returns false if the user owns the client; null if the user is unknown */
  async addOwner(clientId: string, userId: number, operator: string): Promise<boolean | null> {
    return this.dataSource.transaction(async (manager) => {
      await lockClient(manager, clientId, { operator });
      if (!(await manager.existsBy(UserEntity, { id: userId }))) return null;
      if (await manager.existsBy(ClientOwnerEntity, { clientId, userId })) return false;
      await manager.insert(ClientOwnerEntity, { clientId, userId });
      return true;
    });
  }

  /** Removes any owner for an operator, even the last. @throws AdministrationError `member_unknown` */
  async removeOwner(clientId: string, userId: number, operator: string): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await lockClient(manager, clientId, { operator });
      await deleteMember(manager, clientId, 'owner', userId);
    });
  }

  /** Removes a member for an owner, or lets an owner leave. @throws AdministrationError `last_owner`, `member_unknown` */
  async remove(clientId: string, owner: number, kind: MemberKind, userId: number): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await lockClient(manager, clientId, { owner });
      if (kind === 'owner' && (await manager.countBy(ClientOwnerEntity, { clientId })) === 1)
        throw refused('conflict', problem('last_owner', [], { clientId }));
      await deleteMember(manager, clientId, kind, userId);
    });
  }

  /** Returns the applications that the user of the transaction tests, at most 100. */
  tested(): Promise<TestedClient[]> {
    return this.dataSource.query<TestedClient[]>(
      'SELECT client AS "clientId", name, since FROM tested_clients()',
    );
  }

  /** Ends the participation of a tester, who does not own the client. */
  async stopTesting(clientId: string, userId: number): Promise<boolean> {
    return (
      (await this.dataSource.getRepository(ClientTesterEntity).delete({ clientId, userId })).affected === 1
    );
  }

  invitations(clientId: string): Promise<ClientInvitationEntity[]> {
    return this.dataSource.getRepository(ClientInvitationEntity).find({
      where: { clientId, expiresAt: MoreThan(new Date()) },
      order: { createdAt: 'ASC' },
    });
  }

  /**
   * Invites an owner or tester, and deletes the inviter's expired invitations.
   * @param token random bytes, of which only the hash is stored
   * @param email address to which the token app sends the link, with another token; null for no mail
   * @throws AdministrationError `limit_reached`, `client_not_in_testing`
   */
  async invite(
    clientId: string,
    owner: number,
    kind: MemberKind,
    token: Buffer,
    email: string | null,
  ): Promise<ClientInvitationEntity> {
    const invited = this.dataSource.transaction(async (manager) => {
      const { stage } = await lockClient(manager, clientId, { owner });
      if (kind === 'tester' && stage !== 'testing')
        throw refused('conflict', problem('client_not_in_testing', [], { clientId }));
      await lockUserLimits(manager, owner);
      await manager.query('DELETE FROM client_invitations WHERE invited_by = $1 AND expires_at <= now()', [
        owner,
      ]);
      const invited = await manager.countBy(ClientInvitationEntity, { invitedBy: owner });
      if (invited >= OWNER_LIMITS.invitations) throw limitReached('invitations');
      if (kind === 'tester') {
        const pending = await manager.countBy(ClientInvitationEntity, { clientId, kind });
        const testers = await manager.countBy(ClientTesterEntity, { clientId });
        if (pending + testers >= OWNER_LIMITS.testers) throw limitReached('testers');
      }
      const { identifiers } = await manager.insert(ClientInvitationEntity, {
        clientId,
        kind,
        tokenHash: createHash('sha256').update(token).digest(),
        invitedBy: owner,
        email,
        expiresAt: () => `now() + interval '7 days'`,
      });
      return manager.findOneByOrFail(ClientInvitationEntity, { id: (identifiers[0] as { id: string }).id });
    });
    return invited.catch((error: unknown) => {
      const check = violatedCheck(error);
      const [limit] = (['mails', 'mails_to_address'] as const).filter((of) => MAIL_LIMITS[of] === check);
      throw limit ? limitReached(limit) : error;
    });
  }

  /** @throws AdministrationError `client_invitation_unknown` */
  async revokeInvitation(clientId: string, owner: number, id: string): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await lockClient(manager, clientId, { owner });
      const { affected } = await manager.delete(ClientInvitationEntity, { clientId, id });
      if (affected !== 1) throw unknownInvitation();
    });
  }

  /**
   * Reads an open invitation for any user of the portal who has its token.
   * @throws AdministrationError `client_invitation_unknown`
   */
  async invitation(token: Buffer): Promise<ReceivedInvitation> {
    const [invitation] = await this.dataSource.query<ReceivedInvitation[]>(
      'SELECT name, kind, inviter FROM read_client_invitation($1)',
      [token],
    );
    if (!invitation) throw unknownInvitation();
    return invitation;
  }

  /**
   * Accepts an invitation once, for the user of the portal's transaction.
   * @throws AdministrationError `limit_reached`, `client_invitation_unknown`
   */
  async accept(token: Buffer): Promise<AcceptedMembership> {
    const [accepted] = await this.dataSource.query<
      (AcceptedMembership & { readonly outcome: 'accepted' | 'testers_full' })[]
    >('SELECT client AS "clientId", name, kind, outcome FROM accept_client_invitation($1)', [token]);
    if (!accepted) throw unknownInvitation();
    const { outcome, ...invitation } = accepted;
    if (outcome === 'testers_full') throw limitReached('testers');
    return invitation;
  }
}

async function deleteMember(
  manager: EntityManager,
  clientId: string,
  kind: MemberKind,
  userId: number,
): Promise<void> {
  const { affected } = await manager.delete(ENTITIES[kind], { clientId, userId });
  if (affected !== 1) throw refused('unknown', problem('member_unknown', [], { clientId, userId }));
}

export function unknownInvitation(): AdministrationError {
  return refused('unknown', problem('client_invitation_unknown', []));
}
