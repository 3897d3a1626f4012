import { Inject, Injectable, Logger } from '@nestjs/common';
import { userChangesBetween } from '#audit/changes.js';
import type { AuditRecord } from '#audit/event.js';
import { AuditPublisher } from '#audit/publisher.js';
import { GrantRecordStore } from '#grants/records/grant-record.store.js';
import { ExternalUserStore } from '#users/external-user.store.js';
import { refusedRow } from '#platform/postgres/postgres-errors.js';
import { DuplicateUserError } from '#users/user.js';
import { UserAccountStore } from '#users/user-account.store.js';
import { type IdentityRecord, readIdentity, readProductUser, type UserRecord } from '#users/user-record.js';
import { describeProblem } from '#error-guide/problems/describe-problem.js';
import { type Problem, problem } from '#platform/validation/problem.js';
import { RevocationService } from '#grants/revocation.service.js';
import {
  SUBJECTS,
  type UserChanged,
  type UserDeleteReply,
  type UserDisableReply,
  type UserUpsertReply,
} from '#messaging/contract.js';
import { NatsConnection } from '#messaging/nats.connection.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import {
  deleteUser,
  disableUser,
  type DeactivationAnnouncer,
  type UserDeactivation,
} from '#users/user-deactivation.js';
import { TokenConfiguration } from '../token.configuration.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    link_not_configured: null;
  }
}

/** The product's change is applied, because a user who has left must lose access. */
const LAST_ADMIN =
  'the last admin of the console is disabled: appoint another one with "operator console grant LOGIN --role admin"';

const OUTCOMES = { created: 'created', updated: 'updated', kept: 'unchanged', stale: 'stale' } as const;

/** Applies the product's changes to users. A repeated or outdated message changes nothing. */
@Injectable()
export class UserChangeService implements DeactivationAnnouncer {
  private readonly logger = new Logger(UserChangeService.name);

  constructor(
    private readonly users: ExternalUserStore,
    private readonly accounts: UserAccountStore,
    private readonly grants: GrantRecordStore,
    private readonly revocations: RevocationService,
    private readonly nats: NatsConnection,
    private readonly audit: AuditPublisher,
    private readonly configuration: TokenConfiguration,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async upsert(message: UserRecord): Promise<UserUpsertReply> {
    const read = readProductUser(message, this.clock());
    if ('problems' in read) return invalid(read.problems);
    const { user } = read;
    if (user.linkByEmail && this.configuration.LOGIN_LINK_BY_EMAIL !== 'true')
      return invalid([problem('link_not_configured', 'link_by_email')]);
    try {
      const { id, outcome, disabled, change } = await this.users.upsert(user);
      if (id === null || outcome === 'deleted') return { status: 'stale' };
      if (outcome === 'created' || outcome === 'updated')
        this.audit.record({
          type: `user.${outcome}`,
          user_id: id,
          detail: { by: 'product' },
          ...(change && userChangesBetween(change.before, change.after)),
        });
      await this.announce(id);
      return { status: OUTCOMES[outcome], user_id: id, disabled };
    } catch (error) {
      if (error instanceof DuplicateUserError)
        return {
          status: 'conflict',
          problems: texts(error.fields.map((field) => problem('user_exists', field))),
        };
      const constraint = refusedRow(error);
      if (constraint === null) throw error;
      return { status: 'conflict', problems: texts([problem('row_refused', [], { constraint })]) };
    }
  }

  async disable(message: UserRecord): Promise<UserDisableReply> {
    const read = readIdentity(message, this.clock());
    if ('problems' in read) return invalid(read.problems);
    const disabled = await disableUser(this.deactivationOf(read), this);
    if (disabled === null) return { status: 'unknown' };
    const { id, outcome, revokedGrants, wasLastAdmin } = disabled;
    if (outcome === 'stale') return { status: 'stale', user_id: id };
    const status = outcome === 'disabled' ? 'disabled' : 'unchanged';
    return { status, user_id: id, revoked_grants: revokedGrants, ...warningsOf(wasLastAdmin) };
  }

  async delete(message: UserRecord): Promise<UserDeleteReply> {
    const read = readIdentity(message, this.clock());
    if ('problems' in read) return invalid(read.problems);
    const { id, outcome, revokedGrants, wasLastAdmin } = await deleteUser(this.deactivationOf(read), this);
    if (outcome === 'unknown') return { status: 'unknown' };
    if (outcome === 'deleted_before' || id === undefined) return { status: 'unchanged' };
    if (outcome === 'stale') return { status: 'stale', user_id: id };
    return { status: 'deleted', user_id: id, revoked_grants: revokedGrants, ...warningsOf(wasLastAdmin) };
  }

  private deactivationOf({ identity, updatedAt }: IdentityRecord): UserDeactivation {
    return {
      by: 'product',
      disable: () => this.accounts.disableIdentity(identity, updatedAt),
      delete: () => this.accounts.deleteIdentity(identity, updatedAt),
    };
  }

  /** Must be called immediately after PostgreSQL has stored the change, because a repeated message changes nothing. */
  async record(event: AuditRecord): Promise<void> {
    if (event.detail?.['last_admin']) this.logger.warn(LAST_ADMIN);
    this.audit.record(event);
  }

  /** Evicts caches before revoking tokens. */
  async endAccess(userId: number): Promise<void> {
    await this.announce(userId);
    await this.revocations.apply(await this.grants.revokedOf({ userId }));
  }

  /**
   * Evicts the user's profile and tokens from every cache, even without a change, because the broadcast that followed
   * the last change may have been lost.
   */
  private async announce(userId: number): Promise<void> {
    this.nats.publish(SUBJECTS.userChanged, { user_id: userId } satisfies UserChanged);
    // The reply must wait until NATS has received the broadcast.
    await this.nats.ping();
  }
}

const MAX_NAME = 100;

const texts = (problems: readonly Problem[]): string[] =>
  problems.map((found) => describeProblem(found, (name) => name.slice(0, MAX_NAME)));

const invalid = (problems: readonly Problem[]): { status: 'invalid'; problems: readonly string[] } => ({
  status: 'invalid',
  problems: texts(problems),
});

function warningsOf(wasLastAdmin: boolean): { readonly warnings?: readonly string[] } {
  return wasLastAdmin ? { warnings: [LAST_ADMIN] } : {};
}
