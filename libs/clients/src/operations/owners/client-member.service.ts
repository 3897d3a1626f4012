import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { IsIn, IsOptional, IsString } from 'class-validator';
import { isEmailAddress } from '#oauth/links.js';
import { refused } from '#platform/validation/administration.error.js';
import { AdministrationOptions } from '#operations/administration.options.js';
import { Announcer } from '#operations/announcer.js';
import { described } from '#operations/member-names.js';
import type { Actor, Change, OwnerActor } from '#operations/audit-trail.js';
import { type Input, validated } from '#operations/operation-input.js';
import { problem, reports } from '#platform/validation/problem.js';
import { Satisfies } from '#platform/validation/validate.js';
import { UserStore } from '#users/user.store.js';
import { unknownUser, userIdOf } from '#users/operations/user.dto.js';
import { ClientStore } from '../../client.store.js';
import type { ClientInvitationEntity, MemberKind } from '../../owners/client-owner.entity.js';
import {
  type AcceptedMembership,
  ClientMemberStore,
  type Member,
  type Owner,
  type OwnerlessClient,
  type ReceivedInvitation,
  type TestedClient,
  unknownInvitation,
} from '../../owners/client-member.store.js';
import { unknownClient } from '../../client.js';
import { identifyClient } from '../client-lookup.js';
import { isPrivilegedClient } from '../privileged-client.js';

/** Rejects quoted local parts (RFC 5321 4.1.2) and spaces, which mail programs read in different ways. */
const isUnquotedAddress = (text: string): boolean => isEmailAddress(text) && !/["\s]/u.test(text);

const MEMBER_KINDS = ['owner', 'tester'] as const satisfies readonly MemberKind[];

export class MemberInvitationDto {
  @IsIn(MEMBER_KINDS)
  @IsString()
  kind: MemberKind = 'tester';

  /** Receives the link by mail. Null returns the link. */
  @Satisfies(isUnquotedAddress, reports('email_invalid'))
  @IsString()
  @IsOptional()
  email: string | null = null;
}

export type OwnerView = ReturnType<typeof ownerView>;

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/**
 * Owners and testers of applications. Methods of operators accept the client_id, or a name that only one client has.
 */
@Injectable()
export class ClientMemberService {
  constructor(
    private readonly members: ClientMemberStore,
    private readonly clients: ClientStore,
    private readonly users: UserStore,
    private readonly announcer: Announcer,
    private readonly options: AdministrationOptions,
  ) {}

  /** Lists the owners for an operator, oldest first. */
  async owners(idOrName: string): Promise<OwnerView[]> {
    return (await this.members.owners(await this.registered(idOrName))).map(ownerView);
  }

  /** Lists applications of developers that have no enabled owner, at most 1,000. */
  withoutOwner(): Promise<OwnerlessClient[]> {
    return this.members.withoutOwner();
  }

  /**
   * An owner could change the keys or redirect URIs of a client by which operators or owners log in, so such a client
   * has none.
   * @param login email address, username, or `id:` and the id of the user
   */
  async addOwner(
    actor: Actor,
    idOrName: string,
    login: string,
  ): Promise<Change<{ readonly client_id: string; readonly user_id: number; readonly added: boolean }>> {
    const clientId = await this.registered(idOrName);
    const client = await this.clients.find(clientId);
    if (client && isPrivilegedClient(client, this.options.settings.consoleUrl))
      throw refused('forbidden', problem('client_without_owners', [], { clientId }));
    const userId = await userIdOf(this.users, login);
    const added = await this.members.addOwner(clientId, userId, actor.name);
    if (added === null) throw unknownUser(login);
    return {
      result: { client_id: clientId, user_id: userId, added },
      announced: this.record(actor, 'added', clientId, { kind: 'owner', member: userId }),
    };
  }

  /** Removes any owner, even the last one. */
  async removeOwner(
    actor: Actor,
    idOrName: string,
    login: string,
  ): Promise<Change<{ readonly client_id: string; readonly user_id: number; readonly removed: true }>> {
    const clientId = await this.registered(idOrName);
    const userId = await userIdOf(this.users, login);
    await this.members.removeOwner(clientId, userId, actor.name);
    return {
      result: { client_id: clientId, user_id: userId, removed: true },
      announced: this.record(actor, 'removed', clientId, { kind: 'owner', member: userId }),
    };
  }

  /** Lists owners and testers for an owner. */
  async team(clientId: string): Promise<Member[]> {
    const members = await this.members.team(clientId);
    if (members.length === 0) throw unknownClient(clientId);
    return members;
  }

  /** Lists the applications in testing that the user of the portal's transaction tests. */
  tested(): Promise<TestedClient[]> {
    return this.members.tested();
  }

  /** Lists the open invitations of an application. */
  invitations(clientId: string): Promise<ClientInvitationEntity[]> {
    return this.members.invitations(clientId);
  }

  /**
   * Creates an invitation for seven days. The holder of the link may accept it once.
   * @returns `token`: secret part of the link, which is never stored; null if the link is sent by mail
   */
  async invite(
    actor: OwnerActor,
    clientId: string,
    input: Input<MemberInvitationDto>,
  ): Promise<Change<{ readonly id: string; readonly token: string | null }>> {
    const { kind, email } = validated(MemberInvitationDto, input);
    const token = randomBytes(32);
    const { id } = await this.members.invite(clientId, actor.userId, kind, token, email);
    return {
      result: { id, token: email === null ? token.toString('base64url') : null },
      announced: this.record(actor, 'invited', clientId, { kind, invitation: id }),
    };
  }

  revokeInvitation(actor: OwnerActor, clientId: string, id: string): Promise<void> {
    return this.members.revokeInvitation(clientId, actor.userId, id);
  }

  /** @param token of the link */
  async invitation(token: string): Promise<ReceivedInvitation> {
    return this.members.invitation(tokenBytes(token));
  }

  /** @param token of the link */
  async accept(actor: OwnerActor, token: string): Promise<Change<AcceptedMembership>> {
    const accepted = await this.members.accept(tokenBytes(token));
    const { clientId, kind } = accepted;
    return {
      result: accepted,
      announced: this.record(actor, 'added', clientId, { kind, member: actor.userId }),
    };
  }

  /** Removes a member, or leaves an own application. The last owner cannot leave. */
  async remove(
    actor: OwnerActor,
    clientId: string,
    kind: MemberKind,
    userId: number,
  ): Promise<Change<{ readonly client_id: string; readonly user_id: number; readonly removed: true }>> {
    const isTester = kind === 'tester' && userId === actor.userId;
    const isRemoved = isTester && (await this.members.stopTesting(clientId, userId));
    if (!isRemoved) await this.members.remove(clientId, actor.userId, kind, userId);
    return {
      result: { client_id: clientId, user_id: userId, removed: true },
      announced: this.record(actor, 'removed', clientId, { kind, member: userId }),
    };
  }

  private record(
    actor: Actor,
    step: 'invited' | 'added' | 'removed',
    clientId: string,
    detail: Readonly<Record<string, unknown>>,
  ): Promise<string[]> {
    return this.announcer.record(actor, { type: `client_member.${step}`, client_id: clientId, detail });
  }

  private async registered(idOrName: string): Promise<string> {
    const clientId = await identifyClient(this.clients, idOrName);
    if (!(await this.clients.names([clientId])).has(clientId)) throw unknownClient(idOrName);
    return clientId;
  }
}

function tokenBytes(token: string): Buffer {
  if (!TOKEN.test(token)) throw unknownInvitation();
  return Buffer.from(token, 'base64url');
}

export function ownerView(owner: Owner) {
  return described(owner, ['userId', 'username', 'email', 'disabledAt', 'addedAt']);
}
