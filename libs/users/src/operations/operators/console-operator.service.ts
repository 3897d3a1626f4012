import { applyDecorators, Injectable, Logger } from '@nestjs/common';
import { IsBoolean, IsIn, IsString } from 'class-validator';
import { type AdministrationError, refused } from '#platform/validation/administration.error.js';
import { problem, reports } from '#platform/validation/problem.js';
import { changesBetween } from '#audit/changes.js';
import { AdministrationOptions } from '#operations/administration.options.js';
import { Announcer } from '#operations/announcer.js';
import { described } from '#operations/member-names.js';
import { type Input, validated } from '#operations/operation-input.js';
import { Satisfies } from '#platform/validation/validate.js';
import type { Actor, Change } from '#operations/audit-trail.js';
import { isEmailAddress } from '#oauth/links.js';
import { CONSOLE_ROLES, type ConsoleRole } from '../../operators/console-role.js';
import type { ConsoleInvitationEntity } from '../../user.entity.js';
import { ConsoleInvitationStore } from '../../operators/console-invitation.store.js';
import { type ConsoleOperator, ConsoleOperatorStore } from '../../operators/console-operator.store.js';
import { isUserId } from '../../user.js';
import { UserStore } from '../../user.store.js';
import { unknownUser, userIdOf } from '../user.dto.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    role_unknown: { readonly roles: readonly string[] };
    console_operator_known: { readonly email: string };
    console_operator_unknown: { readonly login: string };
    invitation_unknown: { readonly id: string };
    /** The groups of the login provider decide who has a role. */
    roles_of_groups: null;
  }
}

const IsRole = (): PropertyDecorator =>
  applyDecorators(IsString(), IsIn(CONSOLE_ROLES, reports('role_unknown', { roles: CONSOLE_ROLES })));

export class RoleDto {
  @IsString()
  login: string;

  @IsRole()
  role: ConsoleRole;

  @IsBoolean()
  confirmLastAdmin = false;
}

export class InvitationDto {
  @Satisfies(isEmailAddress, reports('email_invalid'))
  @IsString()
  email: string;

  @IsRole()
  role: ConsoleRole;
}

export type InvitationView = ReturnType<typeof invitationView>;
export type ConsoleOperatorView = ReturnType<typeof operatorView>;

/** Grants and revokes console roles. Groups of another login provider replace these roles. */
@Injectable()
export class ConsoleOperatorService {
  private readonly logger = new Logger('audit');

  constructor(
    private readonly operators: ConsoleOperatorStore,
    private readonly invited: ConsoleInvitationStore,
    private readonly users: UserStore,
    private readonly announcer: Announcer,
    private readonly options: AdministrationOptions,
  ) {}

  async list(): Promise<ConsoleOperatorView[]> {
    return (await this.operators.list()).map(operatorView);
  }

  /** @throws AdministrationError if the user has no role */
  async find(userId: number | string): Promise<ConsoleOperatorView> {
    const operator = (await this.list()).find(({ user_id: id }) => String(id) === String(userId));
    if (operator) return operator;
    throw unknownOperator(`id:${userId}`);
  }

  /**
   * Replaces the current role, if any. The new role applies to the operator's next request.
   * @throws AdministrationError of the kind `unconfirmed` if the last admin would lose the role without
   * `confirmLastAdmin`
   */
  async grant(
    actor: Actor,
    input: Input<RoleDto>,
  ): Promise<Change<{ readonly user_id: number; readonly role: ConsoleRole }>> {
    const { login, role, confirmLastAdmin } = validated(RoleDto, input);
    this.requireStoredRoles();
    const userId = await userIdOf(this.users, login);
    const before = await this.operators.setRole(userId, role, { login, confirmLastAdmin });
    // The user may have been deleted in the meantime.
    if (before === undefined) throw unknownUser(login);
    return {
      result: { user_id: userId, role },
      announced: this.announcer.record(actor, {
        type: 'console_operator.granted',
        user_id: userId,
        ...changesBetween({ role: before }, { role }),
      }),
    };
  }

  /** The operator's next request is rejected. @throws AdministrationError like `grant` */
  async revoke(
    actor: Actor,
    login: string,
    confirmLastAdmin = false,
  ): Promise<Change<{ readonly user_id: number; readonly revoked: true }>> {
    this.requireStoredRoles();
    const userId = await userIdOf(this.users, login);
    const role = await this.operators.setRole(userId, null, { login, confirmLastAdmin });
    if (!role) throw unknownOperator(login);
    return {
      result: { user_id: userId, revoked: true },
      announced: this.announcer.record(actor, {
        type: 'console_operator.revoked',
        user_id: userId,
        ...changesBetween({ role }, {}),
      }),
    };
  }

  /** Returns true if the user is the only enabled admin. */
  async isLastAdmin(userId: number): Promise<boolean> {
    const admins = (await this.operators.list()).filter((one) => one.role === 'admin' && !one.disabledAt);
    return admins.length === 1 && admins[0]?.userId === userId;
  }

  async invitations(): Promise<InvitationView[]> {
    return (await this.invited.list()).map(invitationView);
  }

  async invitation(id: string): Promise<InvitationView> {
    const invitation = (await this.invitations()).find((candidate) => candidate.id === id);
    if (invitation) return invitation;
    throw unknownInvitation(id);
  }

  /**
   * Invites an email address for seven days. Replaces an earlier invitation.
   * @param inviter id of the admin, without whose role the invitation is not valid; null for other actors
   */
  async invite(
    actor: Actor,
    input: Input<InvitationDto>,
    inviter: number | null = null,
  ): Promise<Change<InvitationView>> {
    const { email, role } = validated(InvitationDto, input);
    this.requireStoredRoles();
    const invitation = await this.invited.create({ email, role, invitedBy: actor.name, inviter });
    if (!invitation) throw refused('conflict', problem('console_operator_known', 'email', { email }));
    return {
      result: invitationView(invitation),
      announced: this.announcer.record(actor, {
        type: 'console_operator.invited',
        // Without the address: the audit trail outlives personal data.
        detail: { invitation: invitation.id, role },
      }),
    };
  }

  async uninvite(actor: Actor, id: string): Promise<Change<{ readonly id: string; readonly revoked: true }>> {
    if (!(await this.invited.delete(id))) throw unknownInvitation(id);
    return {
      result: { id, revoked: true },
      announced: this.announcer.record(actor, {
        type: 'console_operator.uninvited',
        detail: { invitation: id },
      }),
    };
  }

  /**
   * Accepts the invitation of a user who logs in to the console, if there is one. Does not wait for NATS.
   * @param subject `sub` of an ID token of this service
   */
  async acceptInvitation(actor: Actor, subject: string): Promise<void> {
    if (!isUserId(subject)) return;
    const userId = Number(subject);
    const accepted = await this.invited.accept(userId);
    if (!accepted) return;
    const { id, role } = accepted;
    this.warn(
      this.announcer.record(actor, {
        type: 'console_operator.granted',
        user_id: userId,
        detail: { invitation: id },
        ...changesBetween({}, { role }),
      }),
    );
  }

  /**
   * Records a login to the console, or a logout. Does not wait for NATS.
   *
   * @param subject identifies the operator, because an operator can take another operator's former name
   */
  recordLogin(actor: Actor, subject: string, type: 'login.succeeded' | 'login.ended'): void {
    this.warn(this.announcer.record(actor, { type, detail: { subject } }));
  }

  recordLoginWithoutRole(actor: Actor, subject: string): void {
    const description = 'the user has no role in the console';
    const record = {
      type: 'login.refused',
      check: 'console_role_missing',
      description,
      detail: { subject },
    } as const;
    this.warn(this.announcer.record(actor, record));
  }

  private warn(recorded: Promise<readonly string[]>): void {
    void recorded.then((warnings) => warnings.forEach((warning) => this.logger.warn(warning)));
  }

  private requireStoredRoles(): void {
    if (this.options.settings.consoleGroupsClaim !== '')
      throw refused('conflict', problem('roles_of_groups', []));
  }
}

function operatorView(operator: ConsoleOperator) {
  return described(operator, ['userId', 'username', 'email', 'role', 'disabledAt']);
}

function invitationView(invitation: ConsoleInvitationEntity) {
  return described(invitation, ['id', 'email', 'role', 'invitedBy', 'createdAt', 'expiresAt']);
}

function unknownInvitation(id: string): AdministrationError {
  return refused('unknown', problem('invitation_unknown', [], { id }));
}

function unknownOperator(login: string): AdministrationError {
  return refused('unknown', problem('console_operator_unknown', [], { login }));
}
