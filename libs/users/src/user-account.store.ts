import { Injectable } from '@nestjs/common';
import {
  Any,
  DataSource,
  type EntityManager,
  IsNull,
  Not,
  type QueryDeepPartialEntity,
  type Repository,
  type SelectQueryBuilder,
} from 'typeorm';
import { GrantRecordEntity } from '#grants/records/grant-record.entity.js';
import { ISOLATION_LEVEL, LIVE } from '#grants/records/grant-record.statements.js';
import type { ListPage, PageRequest } from '#platform/postgres/list-page.js';
import { containing, countOf, idsOf, inOrder, selectPage } from '#platform/postgres/list-page.statements.js';
import { type LastAdminChange, mayChangeRole } from './operators/console-role.js';
import { isLastAdmin, keepAnAdmin } from './operators/console-operator.statements.js';
import { type AccountCondition, type Identity, isUserId, type User } from './user.js';
import {
  deleteLocked,
  disableLocked,
  type Disabler,
  excludeCreations,
  lockIdentity,
  lockAccount,
  rememberDeletion,
} from './user-account.statements.js';
import { UserEntity } from './user.entity.js';
import { NEXT_GENERATION, toUser } from './user.store.js';

export interface UserAccount {
  readonly id: number;
  readonly username: string;
  readonly email: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly disabledAt: Date | null;
  /** The operator and the product disable independently. The operator can undo both, the product only its own. */
  readonly disabledBy: readonly Disabler[];
}

export interface UserAccountDetails extends Pick<UserAccount, 'createdAt' | 'disabledAt' | 'disabledBy'> {
  readonly version: number;
  readonly hasPassword: boolean;
  readonly liveGrants: number;
}

export interface Disabling {
  readonly id: number;
  /** `stale`: a newer change of the product is stored, and nothing has changed. */
  readonly outcome: 'disabled' | 'disabled_before' | 'stale';
  readonly disabledBefore: readonly Disabler[];
  readonly revokedGrants: number;
  /** True if the console has no admin now. */
  readonly wasLastAdmin: boolean;
}

export interface Enabling {
  readonly disabledBefore: readonly Disabler[];
  /** Empty if the user is enabled now. */
  readonly disabledBy: readonly Disabler[];
}

export interface Deletion {
  /** `stale`: a newer change of the product is stored, and nothing has changed. */
  readonly outcome: 'deleted' | 'deleted_before' | 'stale' | 'unknown';
  /** Absent if only the product's identity is known. */
  readonly id?: number;
  readonly revokedGrants: number;
}

export const USER_KINDS = ['password', 'product', 'operator'] as const;
export type UserKind = (typeof USER_KINDS)[number];

export interface UserFilter {
  /** Case-insensitive substring of the email, username, name or external_id; or `id:` and the id. */
  readonly search?: string | undefined;
  readonly state?: 'enabled' | 'disabled' | undefined;
  /** `password`: has a password; `product`: has an identity of the product; `operator`: has a role in the console. */
  readonly kind?: UserKind | undefined;
}

/** Expression of the index `users_search`. */
const SEARCH_TEXT = 'search_text(ARRAY["user".username, "user".email, "user".name, "user".external_id])';

const OF_KIND: Readonly<Record<UserKind, object>> = {
  password: { hasPassword: true },
  product: { issuer: Not(IsNull()) },
  operator: { consoleRole: Not(IsNull()) },
};

/**
 * Changes accounts on behalf of operators and the product. Disabling and deletion lock the user before they revoke
 * grants, so that a grant that is being recorded is revoked, and a later grant is rejected.
 */
@Injectable()
export class UserAccountStore {
  private readonly users: Repository<UserEntity>;

  constructor(private readonly dataSource: DataSource) {
    this.users = dataSource.getRepository(UserEntity);
  }

  async list(filter: UserFilter, request: PageRequest): Promise<ListPage<UserAccount>> {
    const page = await selectPage(this.selected(filter), 'id', request);
    const users = await this.users.findBy({ id: Any(page.items.map(Number)) });
    return { ...page, items: inOrder(page.items, users.map(toAccount), ({ id }) => id) };
  }

  /** Counts at most `MAX_COUNT` + 1 users. */
  count(filter: UserFilter): Promise<number> {
    return countOf(this.selected(filter));
  }

  /** Returns at most `MAX_COUNT` + 1 ids, newest first. */
  ids(filter: UserFilter): Promise<string[]> {
    return idsOf(this.selected(filter), 'id');
  }

  /** Returns the names of the existing users among these ids. */
  async names(ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
    const users = await this.users.find({
      select: { id: true, name: true },
      where: { id: Any(ids.filter((id) => isUserId(String(id)))) },
    });
    return new Map(users.map(({ id, name }) => [id, name]));
  }

  /** Finds at most ten users by email, username or external id. `id:1` matches only an id, whatever usernames exist. */
  async matching(login: string): Promise<User[]> {
    if (login.includes('\0')) return [];
    const [, id] = /^id:(.*)$/s.exec(login) ?? [];
    if (id !== undefined) return this.withId(id);
    const users = await this.users
      .createQueryBuilder('user')
      .where('lower(user.email) = lower(:login)', { login })
      .orWhere('lower(user.username) = lower(:login)')
      .orWhere('user.externalId = :login')
      .orderBy('user.id')
      .limit(10)
      .getMany();
    return users.map(toUser);
  }

  async details(id: number): Promise<UserAccountDetails | null> {
    const [user, liveGrants] = await Promise.all([
      this.users.findOneBy({ id }),
      this.dataSource
        .createQueryBuilder(GrantRecordEntity, 'grant')
        .where({ userId: id })
        .andWhere(LIVE)
        .getCount(),
    ]);
    if (!user) return null;
    const { version, createdAt, disabledAt, hasPassword } = user;
    const disabledBy = disablersOf(user);
    return { version, createdAt, disabledAt, disabledBy, hasPassword, liveGrants };
  }

  /**
   * Ends every session, revokes every grant and blocks new grants, in one transaction. Idempotent. Only the operator
   * can enable the user again.
   * @throws AdministrationError if `condition` is not met, or `confirmLastAdmin` unless another admin stays or the
   * caller confirms
   */
  disable(id: number, condition?: AccountCondition): Promise<Disabling | null> {
    return this.transaction(async (manager) => {
      await checkLastAdmin(manager, id, 'disable', condition);
      const user = await lockAccount(manager, id, condition);
      return user && disableAccount(manager, user, 'operator');
    });
  }

  /** Does nothing if a newer change is stored. @param updatedAt time of the product's change (RFC 3339) */
  disableIdentity(identity: Identity, updatedAt: string): Promise<Disabling | null> {
    return this.transaction(async (manager) => {
      const { user, isStale } = await lockIdentity(manager, identity, updatedAt);
      if (!user) return null;
      if (!isStale) return disableAccount(manager, user, 'product', updatedAt);
      const disabledBefore = disablersOf(user);
      return { id: user.id, outcome: 'stale', disabledBefore, revokedGrants: 0, wasLastAdmin: false };
    });
  }

  /** Grants stay revoked, and old sessions stay invalid. @param overrideProduct true also undoes `disableIdentity` */
  enable(id: number, overrideProduct = false, condition?: AccountCondition): Promise<Enabling | null> {
    return this.transaction(async (manager) => {
      const user = await lockAccount(manager, id, condition);
      if (!user) return null;
      const disabledBefore = disablersOf(user);
      if (disabledBefore.length > 0)
        await manager.update(
          UserEntity,
          { id },
          {
            operatorDisabledAt: null,
            ...NEXT_GENERATION,
            ...(overrideProduct && { productDisabledAt: null }),
          },
        );
      const disabledBy = disabledBefore.filter((by) => by === 'product' && !overrideProduct);
      return { disabledBefore, disabledBy };
    });
  }

  /**
   * Revokes every grant, and deletes the row with all personal data. Grant records stay until they expire, because
   * Redis needs the revocations after a failover. A hash of the identity stays, so that a delayed change cannot
   * recreate the user.
   * @throws AdministrationError like `disable`
   */
  delete(id: number, condition?: AccountCondition): Promise<Deletion> {
    return this.transaction(async (manager) => {
      await checkLastAdmin(manager, id, 'delete', condition);
      // Runs before the row lock, as in deleteIdentity.
      await excludeCreations(manager, 'users WHERE id = $1', [id]);
      const user = await lockAccount(manager, id, condition);
      if (!user) return { outcome: 'deleted_before', id, revokedGrants: 0 };
      const { issuer, externalId } = user;
      if (issuer !== null && externalId !== null)
        await rememberDeletion(manager, { issuer, externalId }, null);
      return { outcome: 'deleted', id, revokedGrants: await deleteLocked(manager, id) };
    });
  }

  /**
   * Does nothing if a newer change is stored. Also records the deletion of an unknown user.
   * @param updatedAt time of the deletion (RFC 3339)
   */
  deleteIdentity(identity: Identity, updatedAt: string): Promise<Deletion> {
    return this.transaction(async (manager) => {
      await excludeCreations(manager, '(VALUES ($1::text, $2::text)) identity (issuer, external_id)', [
        identity.issuer,
        identity.externalId,
      ]);
      const { user, isStale } = await lockIdentity(manager, identity, updatedAt);
      if (user && isStale) return { outcome: 'stale', id: user.id, revokedGrants: 0 };
      const wasDeleted = await rememberDeletion(manager, identity, updatedAt);
      if (!user) return { outcome: wasDeleted ? 'deleted_before' : 'unknown', revokedGrants: 0 };
      return { outcome: 'deleted', id: user.id, revokedGrants: await deleteLocked(manager, user.id) };
    });
  }

  /**
   * @param locale null for the browser's language
   * @returns the user before the change; null if the user does not exist
   * @throws AdministrationError if `condition` is not met
   */
  setLocale(id: number, locale: string | null, condition?: AccountCondition): Promise<User | null> {
    return this.transaction(async (manager) => {
      const user = await lockAccount(manager, id, condition);
      if (user) await manager.update(UserEntity, { id }, { locale });
      return user && toUser(user);
    });
  }

  /**
   * @param passwordHash from `hashPassword`
   * @returns false if the user does not exist
   * @throws AdministrationError if `condition` is not met
   */
  setPassword(
    id: number,
    passwordHash: string,
    endSessions: boolean,
    condition?: AccountCondition,
  ): Promise<boolean> {
    return this.update(id, { passwordHash, ...(endSessions && NEXT_GENERATION) }, condition);
  }

  /** @returns false if the user does not exist @throws AdministrationError if `condition` is not met */
  endSessions(id: number, condition?: AccountCondition): Promise<boolean> {
    return this.update(id, NEXT_GENERATION, condition);
  }

  private update(
    id: number,
    changes: QueryDeepPartialEntity<UserEntity>,
    condition?: AccountCondition,
  ): Promise<boolean> {
    return this.transaction(async (manager) => {
      const user = await lockAccount(manager, id, condition);
      if (user) await manager.update(UserEntity, { id }, changes);
      return user !== null;
    });
  }

  private selected({ search = '', state, kind }: UserFilter): SelectQueryBuilder<UserEntity> {
    const query = this.users.createQueryBuilder('user');
    const [, id] = /^id:(.*)$/.exec(search) ?? [];
    if (id !== undefined) query.where({ id: isUserId(id) ? Number(id) : IsNull() });
    else if (search !== '') containing(query, SEARCH_TEXT, search);
    if (state !== undefined) query.andWhere({ disabledAt: state === 'enabled' ? IsNull() : Not(IsNull()) });
    if (kind !== undefined) query.andWhere(OF_KIND[kind]);
    return query;
  }

  private async withId(id: string): Promise<User[]> {
    if (!isUserId(id)) return [];
    return (await this.users.findBy({ id: Number(id) })).map(toUser);
  }

  private transaction<T>(act: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(ISOLATION_LEVEL, act);
  }
}

async function checkLastAdmin(
  manager: EntityManager,
  id: number,
  change: LastAdminChange,
  { actor, confirmLastAdmin = false }: AccountCondition = {},
): Promise<void> {
  // Otherwise `lockAccount` rejects the change of any admin.
  const mayChangeAdmins = !actor || mayChangeRole(actor.role, 'admin');
  if (!confirmLastAdmin && mayChangeAdmins) await keepAnAdmin(manager, id, change);
}

function toAccount(user: UserEntity): UserAccount {
  const { id, username, email, name, createdAt, disabledAt } = user;
  return { id, username, email, name, createdAt, disabledAt, disabledBy: disablersOf(user) };
}

async function disableAccount(
  manager: EntityManager,
  user: UserEntity,
  by: Disabler,
  updatedAt?: string,
): Promise<Disabling> {
  const { id } = user;
  const disabledBefore = disablersOf(user);
  const wasLastAdmin = await isLastAdmin(manager, id);
  const revokedGrants = await disableLocked(manager, id, by, updatedAt);
  const outcome = disabledBefore.includes(by) ? 'disabled_before' : 'disabled';
  return { id, outcome, disabledBefore, revokedGrants, wasLastAdmin };
}

function disablersOf({ operatorDisabledAt, productDisabledAt }: UserEntity): Disabler[] {
  return [
    ...(operatorDisabledAt ? ['operator' as const] : []),
    ...(productDisabledAt ? ['product' as const] : []),
  ];
}
