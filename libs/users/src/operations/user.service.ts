import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { AuditRecord } from '#audit/event.js';
import { AdministrationError, type Expected, refused } from '#platform/validation/administration.error.js';
import { Announcer } from '#operations/announcer.js';
import type { Actor, Change } from '#operations/audit-trail.js';
import { RunningServices } from '#operations/running-services/running-services.js';
import { changesBetween } from '#audit/changes.js';
import type { ListPage } from '#platform/postgres/list-page.js';
import {
  OPERATOR_SUBJECTS,
  type UserSession,
  type UserSessionsReply,
  type UserSessionsRequest,
} from '#messaging/request-sender.js';
import { problem } from '#platform/validation/problem.js';
import { type Input, validated } from '#operations/operation-input.js';
import { mapPage, pageRequest, trimmed } from '#operations/list.js';
import {
  deleteUser,
  disableUser,
  type DeactivationAnnouncer,
  type UserDeactivation,
} from '../user-deactivation.js';
import { ConsoleInvitationStore } from '../operators/console-invitation.store.js';
import { ConsoleOperatorStore } from '../operators/console-operator.store.js';
import { ExternalUserStore } from '../external-user.store.js';
import { hashPassword } from '../password.js';
import { UserAccountStore } from '../user-account.store.js';
import { DuplicateUserError } from '../user.js';
import { UserStore } from '../user.store.js';
import { type BadLine, type ImportCounts, UserImport } from './import/user-import.js';
import {
  findUser,
  NewUserDto,
  PasswordChangeDto,
  unknownUser,
  UserChangesDto,
  UserFilterDto,
  UserImportDto,
  UserListDto,
} from './user.dto.js';
import { userDetails, type UserDetails, userView, type UserView } from './user.description.js';

/** Announces over NATS, and collects the warnings. */
export class OperatorDeactivationAnnouncer implements DeactivationAnnouncer {
  readonly warnings: string[] = [];

  /** @param states what is true of the user if the services do not answer after a step */
  constructor(
    private readonly actor: Actor,
    private readonly states: Readonly<Record<'disabled' | 'deleted', string>>,
    private readonly announcer: Announcer,
    private readonly services: RunningServices,
  ) {}

  async record(event: AuditRecord): Promise<void> {
    this.warnings.push(...(await this.announcer.record(this.actor, event)));
  }

  async endAccess(userId: number, step: 'disabled' | 'deleted'): Promise<void> {
    await this.services.applyRevocations({ user_id: userId }, this.states[step]);
  }

  readonly rethrow = (error: unknown): never => {
    if (error instanceof AdministrationError) error.warnings = this.warnings;
    throw error;
  };
}

declare module '#platform/validation/problem.js' {
  interface Problems {
    import_stopped: { readonly line: number; readonly reason: string };
    /** The user has a role in the console, or an invitation to it. */
    user_is_operator: null;
    user_exists: null;
  }
}

/** Methods accept the email address, username or external_id of a user, or `id:` and the id. */
@Injectable()
export class UserService {
  constructor(
    private readonly users: UserStore,
    private readonly accounts: UserAccountStore,
    private readonly external: ExternalUserStore,
    private readonly operators: ConsoleOperatorStore,
    private readonly invitations: ConsoleInvitationStore,
    private readonly services: RunningServices,
    private readonly announcer: Announcer,
  ) {}

  async list(input: Input<UserListDto> = {}): Promise<ListPage<UserView>> {
    const { limit, cursor, ...filter } = validated(UserListDto, input);
    return mapPage(await this.accounts.list(trimmed(filter), pageRequest(limit, cursor)), userView);
  }

  /** Counts the matching users, at most `MAX_COUNT` + 1. */
  async count(input: Input<UserFilterDto> = {}): Promise<number> {
    return this.accounts.count(trimmed(validated(UserFilterDto, input)));
  }

  /** Returns the ids of the matching users, newest first, at most `MAX_COUNT` + 1. */
  async ids(input: Input<UserFilterDto> = {}): Promise<string[]> {
    return this.accounts.ids(trimmed(validated(UserFilterDto, input)));
  }

  /** Returns the names of the existing users among these ids. */
  names(ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
    return this.accounts.names(ids);
  }

  async find(login: string): Promise<UserDetails> {
    const user = await findUser(this.accounts, login);
    const details = await this.accounts.details(user.id);
    if (!details) throw unknownUser(login);
    return userDetails(user, details);
  }

  /** The result has the password only if it was generated. It is never stored as text. */
  async create(actor: Actor, input: Input<NewUserDto>) {
    const { password: given, ...user } = validated(NewUserDto, input);
    const password = given ?? generatePassword();
    const { timeZone, locale = null, email, username, name } = user;
    await this.refuseInvited(actor, email);
    const zone = timeZone === undefined ? {} : { timeZone };
    const passwordHash = await hashPassword(password);
    const created = await this.users
      .create({ email, username, name, passwordHash, locale, ...zone })
      .catch((error: unknown) => {
        throw error instanceof DuplicateUserError ? duplicate(error) : error;
      });
    return {
      result: {
        id: created.id,
        email: created.email,
        username: created.username,
        name: created.name,
        time_zone: created.timeZone,
        locale: created.locale,
        password: given === undefined ? password : null,
      },
      announced: this.announcer.record(actor, { type: 'user.created', user_id: created.id }),
    };
  }

  async update(actor: Actor, login: string, input: Input<UserChangesDto>, expected?: Expected) {
    const { locale } = validated(UserChangesDto, input);
    const { id, username } = await findUser(this.accounts, login);
    const before = await this.accounts.setLocale(id, locale, { ...expected, actor });
    if (!before) throw unknownUser(login);
    return {
      result: { username, locale },
      announced: this.announcer.record(actor, {
        type: 'user.updated',
        user_id: id,
        ...changesBetween({ locale: before.locale }, { locale }),
      }),
    };
  }

  /** The result has the password only if it was generated. */
  async setPassword(actor: Actor, login: string, input: Input<PasswordChangeDto> = {}, expected?: Expected) {
    const { password: given, endSessions } = validated(PasswordChangeDto, input);
    const password = given ?? generatePassword();
    const { id, username, email } = await findUser(this.accounts, login);
    if ((await this.operators.roleOf(id)) !== null) refuseApi(actor);
    await this.refuseInvited(actor, email);
    const hash = await hashPassword(password);
    if (!(await this.accounts.setPassword(id, hash, endSessions, { ...expected, actor })))
      throw unknownUser(login);
    const record = {
      type: 'user.password_changed',
      user_id: id,
      detail: { sessions_ended: endSessions },
      changes: { password: { omitted: 'secret' } },
    } as const;
    return {
      result: {
        id,
        username,
        password: given === undefined ? password : null,
        sessions_ended: endSessions,
      },
      announced: this.announcer.record(actor, record),
    };
  }

  /** @throws AdministrationError of the kind `unavailable` if authorize does not answer */
  async sessions(login: string): Promise<readonly UserSession[]> {
    const { id } = await findUser(this.accounts, login);
    const request = { user_id: id } satisfies UserSessionsRequest;
    const { userSessions } = OPERATOR_SUBJECTS;
    return (await this.services.askAuthorize<UserSessionsReply>(userSessions, request)).sessions;
  }

  /** Ends all sessions; grants stay. Safe to repeat. */
  async logOut(actor: Actor, login: string, expected?: Expected) {
    const { id, username } = await findUser(this.accounts, login);
    if (!(await this.accounts.endSessions(id, { ...expected, actor }))) throw unknownUser(login);
    return {
      result: { id, username, logged_out: true },
      announced: this.announcer.record(actor, { type: 'user.logged_out', user_id: id }),
    };
  }

  /**
   * Safe to repeat after a failure.
   * @throws AdministrationError of the kind `incomplete` if the services do not answer, or `unconfirmed` for the last
   * admin of the console without `confirmLastAdmin`
   */
  async disable(actor: Actor, login: string, expected?: Expected, confirmLastAdmin = false) {
    const { id, username } = await findUser(this.accounts, login);
    const user = this.deactivationOf(actor, id, expected, confirmLastAdmin);
    const announcer = this.announcerOf(actor, username, 'is disabled');
    const disabled = await disableUser(user, announcer).catch(announcer.rethrow);
    if (!disabled) throw unknownUser(login);
    return {
      result: {
        id,
        username,
        disabled: true,
        disabled_before: disabled.outcome === 'disabled_before',
        revoked_grants: disabled.revokedGrants,
      },
      announced: Promise.resolve(announcer.warnings),
    };
  }

  /** Undoes `disable`. @param overrideProduct true also enables a user whom the product disabled */
  async enable(actor: Actor, login: string, overrideProduct = false, expected?: Expected) {
    const { id, username } = await findUser(this.accounts, login);
    const enabling = await this.accounts.enable(id, overrideProduct, { ...expected, actor });
    if (!enabling) throw unknownUser(login);
    const { disabledBefore, disabledBy } = enabling;
    return {
      result: {
        id,
        username,
        disabled: disabledBy.length > 0,
        disabled_before: disabledBefore.length > 0,
        disabled_by: disabledBy,
      },
      announced: this.announcer.record(actor, {
        type: 'user.enabled',
        user_id: id,
        ...changesBetween({ disabled_by: disabledBefore }, { disabled_by: disabledBy }),
      }),
    };
  }

  /** Safe to repeat after a failure, which may leave the user disabled. @throws AdministrationError like `disable` */
  async delete(actor: Actor, login: string, expected?: Expected, confirmLastAdmin = false) {
    const { id, username } = await findUser(this.accounts, login);
    const user = this.deactivationOf(actor, id, expected, confirmLastAdmin);
    const announcer = this.announcerOf(actor, username, 'is disabled, and not deleted yet');
    const deleted = await deleteUser(user, announcer).catch(announcer.rethrow);
    return {
      result: {
        id,
        username,
        deleted: true,
        deleted_before: deleted.outcome === 'deleted_before',
        revoked_grants: deleted.revokedGrants,
      },
      announced: Promise.resolve(announcer.warnings),
    };
  }

  /** Imports a file in constant memory. Safe to repeat. @param report receives each line that is not imported */
  async import(
    actor: Actor,
    stream: Readable,
    input: Input<UserImportDto>,
    report: (bad: BadLine) => void,
  ): Promise<Change<Readonly<ImportCounts>>> {
    const { issuer = null, ...options } = validated(UserImportDto, input);
    const users = new UserImport(this.external, { issuer, ...options }, report);
    await users.run(stream).catch((cause: unknown) => {
      if (cause instanceof AdministrationError) throw cause;
      const values = { line: users.lastLine, reason: (cause as Error).message };
      throw new AdministrationError('incomplete', [problem('import_stopped', [], values)], { cause });
    });
    const { created, updated, failed, changed } = users.counts;
    const hasChanged = !options.dryRun && created + updated > 0;
    const detail = { created, updated, failed, changed };
    return {
      result: users.counts,
      announced: hasChanged
        ? this.announcer.record(actor, { type: 'user.imported', detail })
        : Promise.resolve([]),
    };
  }

  private deactivationOf(
    actor: Actor,
    id: number,
    expected: Expected | undefined,
    confirmLastAdmin: boolean,
  ): UserDeactivation {
    return {
      by: 'operator',
      disable: () => this.accounts.disable(id, { ...expected, actor, confirmLastAdmin }),
      // `disable` has increased the version.
      delete: () => this.accounts.delete(id, { actor, confirmLastAdmin }),
    };
  }

  private announcerOf(actor: Actor, username: string, disabled: string): OperatorDeactivationAnnouncer {
    const states = { disabled: `${username} ${disabled}`, deleted: `${username} is deleted` };
    return new OperatorDeactivationAnnouncer(actor, states, this.announcer, this.services);
  }

  private async refuseInvited(actor: Actor, email: string): Promise<void> {
    if (await this.invitations.isInvited(email)) refuseApi(actor);
  }
}

/** 144 random bits, in characters that survive copying. */
function generatePassword(): string {
  return randomBytes(18).toString('base64url');
}

/** Otherwise an API client could log in to the console as an operator, and make changes that the API forbids. */
function refuseApi({ channel }: Actor): void {
  if (channel === 'api') throw refused('unsafe', problem('user_is_operator', []));
}

function duplicate({ fields }: DuplicateUserError): AdministrationError {
  return new AdministrationError(
    'conflict',
    fields.map((field) => problem('user_exists', field)),
  );
}
