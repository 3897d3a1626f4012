import { Injectable, Logger } from '@nestjs/common';
import { CONSOLE_ROLES, type ConsoleRole } from '#database/user/console-role.js';
import { ConsoleOperatorStore } from '#database/user/console-operator.store.js';
import { UserStore } from '#database/user/user.store.js';
import { type AdministrationError, refusal } from '../administration.error.js';
import { Announcer } from '../announcer.js';
import { Rule, Text, type Input, validated } from '../input.js';
import type { Actor, Change } from '../operation.js';
import { quoted } from '../text.js';

class RoleDto {
  @Text()
  login: string;

  @Text()
  @Rule('role_unknown', ({ role }: RoleDto) =>
    CONSOLE_ROLES.includes(role) ? [] : [`‹role› must be one of ${CONSOLE_ROLES.join(', ')}`],
  )
  role: ConsoleRole;
}

export interface ConsoleOperatorView {
  readonly user_id: number;
  readonly username: string;
  readonly email: string;
  readonly role: ConsoleRole;
}

/** Grants and revokes console roles. Groups of another login provider replace these roles. */
@Injectable()
export class ConsoleOperatorService {
  private readonly logger = new Logger('audit');

  constructor(
    private readonly operators: ConsoleOperatorStore,
    private readonly users: UserStore,
    private readonly announcer: Announcer,
  ) {}

  async list(): Promise<ConsoleOperatorView[]> {
    const operators = await this.operators.list();
    return operators.map(({ userId, username, email, role }) => ({
      user_id: userId,
      username,
      email,
      role,
    }));
  }

  /** Replaces the current role, if any. The new role applies to the operator's next request. */
  async grant(
    actor: Actor,
    input: Input<RoleDto>,
  ): Promise<Change<{ readonly user_id: number; readonly role: ConsoleRole }>> {
    const { login, role } = validated(RoleDto, input);
    const userId = await this.userOf(login);
    // The user may have been deleted in the meantime.
    if (!(await this.operators.grant(userId, role))) throw unknownUser(login);
    return {
      result: { user_id: userId, role },
      announced: this.announcer.record(actor, {
        type: 'console_operator.granted',
        user_id: userId,
        detail: { role },
      }),
    };
  }

  /** The operator's next request is rejected. */
  async revoke(
    actor: Actor,
    login: string,
  ): Promise<Change<{ readonly user_id: number; readonly revoked: true }>> {
    const userId = await this.userOf(login);
    if (!(await this.operators.revoke(userId)))
      throw refusal('unknown', 'console_operator_unknown', `${quoted(login)} has no role in the console`, {
        text: 'See',
        command: ['console', 'list'],
      });
    return {
      result: { user_id: userId, revoked: true },
      announced: this.announcer.record(actor, { type: 'console_operator.revoked', user_id: userId }),
    };
  }

  /**
   * Records a login to the console, or a logout. Does not wait for NATS.
   *
   * @param subject identifies the operator, because an operator can take another operator's former name
   */
  recordLogin(actor: Actor, subject: string, type: 'login.succeeded' | 'login.ended'): void {
    const recorded = this.announcer.record(actor, { type, detail: { subject } });
    void recorded.then((warnings) => warnings.forEach((warning) => this.logger.warn(warning)));
  }

  private async userOf(login: string): Promise<number> {
    const account = await this.users.findByLogin(login);
    if (account) return account.user.id;
    throw unknownUser(login);
  }
}

function unknownUser(login: string): AdministrationError {
  return refusal('unknown', 'user_unknown', `no user logs in here as ${quoted(login)}`, {
    text: 'See',
    command: ['user', 'list'],
  });
}
