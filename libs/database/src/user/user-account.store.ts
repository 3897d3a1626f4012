import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { type Identity, type User, USER_FIELDS } from './user.js';
import { revokeGrants } from '../grant/grant-record.statements.js';

export interface UserAccount {
  readonly id: number;
  readonly username: string;
  readonly email: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly disabledAt: Date | null;
  /** The operator and the product disable independently, and each undoes only its own disable. */
  readonly disabledBy: readonly Disabler[];
}

type Disabler = 'operator' | 'product';

export interface UserAccountDetails extends Pick<UserAccount, 'createdAt' | 'disabledAt' | 'disabledBy'> {
  readonly hasPassword: boolean;
  readonly liveGrants: number;
}

export interface Disabling {
  /** False if the operator had already disabled the user. */
  readonly first: boolean;
  readonly revokedGrants: number;
}

export interface IdentityDisabling {
  readonly id: number;
  readonly outcome: 'disabled' | 'disabled_before' | 'stale';
  readonly revokedGrants: number;
}

export interface Enabling {
  readonly wasDisabled: boolean;
  /** Empty if the user is enabled now. */
  readonly disabledBy: readonly Disabler[];
}

export type IdentityDeletion =
  | { readonly outcome: 'deleted' | 'stale'; readonly id: number; readonly revokedGrants: number }
  | { readonly outcome: 'deleted_before' }
  | { readonly outcome: 'unknown' };

const DISABLED_BY = `
  array_remove(ARRAY[
    CASE WHEN operator_disabled_at IS NOT NULL THEN 'operator' END, CASE WHEN product_disabled_at IS NOT NULL THEN 'product' END
  ], NULL) AS "disabledBy"`;

/** Independent of the server's default: statements after a lock must see what its previous holder committed. */
const ISOLATION_LEVEL = 'READ COMMITTED';

export interface UserFilter {
  /** Case-insensitive substring of the email, username or name. */
  readonly search?: string | undefined;
  /** Exclusive lower bound of the id. */
  readonly after?: number | undefined;
  readonly limit: number;
}

/**
 * Methods that revoke grants lock the user first: a grant that is being recorded concurrently is revoked, and a later one is
 * rejected.
 */
@Injectable()
export class UserAccountStore {
  constructor(private readonly dataSource: DataSource) {}

  list({ search = '', after, limit }: UserFilter): Promise<UserAccount[]> {
    // strpos instead of LIKE, so that % and _ are literal. PostgreSQL cannot store NUL.
    if (search.includes('\0')) return Promise.resolve([]);
    return this.dataSource.query<UserAccount[]>(
      `SELECT id, username, email, name, created_at AS "createdAt", disabled_at AS "disabledAt", ${DISABLED_BY} FROM users
       WHERE ($1::integer IS NULL OR id > $1) AND ($2 = '' OR strpos(lower(concat_ws(E'\\n', email, username, name)), lower($2)) > 0)
       ORDER BY id LIMIT $3`,
      [after ?? null, search, limit],
    );
  }

  /**
   * Finds users by email or username in any letter case, by external id, or by id as `id:1`. Users without a password may share
   * an email.
   */
  async matching(login: string): Promise<User[]> {
    if (login.includes('\0')) return [];
    return this.dataSource.query<User[]>(
      `SELECT ${USER_FIELDS} FROM users
       WHERE lower(email) = lower($1) OR lower(username) = lower($1) OR external_id = $1 OR 'id:' || id = $1
       ORDER BY id LIMIT 10`,
      [login],
    );
  }

  /** @returns null if the user does not exist */
  async details(id: number): Promise<UserAccountDetails | null> {
    const [found] = await this.dataSource.query<UserAccountDetails[]>(
      `SELECT created_at AS "createdAt", disabled_at AS "disabledAt", ${DISABLED_BY}, password_hash IS NOT NULL AS "hasPassword",
         (SELECT count(*)::integer FROM grants WHERE user_id = users.id AND revoked_at IS NULL AND expires_at > now()) AS "liveGrants"
       FROM users WHERE id = $1`,
      [id],
    );
    return found ?? null;
  }

  /**
   * Ends every session, revokes every grant and blocks new ones, in one transaction. Idempotent. The user stays disabled until
   * the operator enables them, whatever the product sends.
   * @returns null if the user does not exist
   */
  disable(id: number): Promise<Disabling | null> {
    return this.transaction(async (manager) => {
      const user = await lock(manager, 'id = $1', [id]);
      if (!user) return null;
      const revokedGrants = await disableLocked(manager, id, 'operator');
      return { first: !user.disabledBy.includes('operator'), revokedGrants };
    });
  }

  /**
   * Like `disable`, for a change by the product. Ignores a change older than the stored one.
   * @param updatedAt RFC 3339
   * @returns null if the user does not exist
   */
  disableIdentity(identity: Identity, updatedAt: string): Promise<IdentityDisabling | null> {
    return this.transaction(async (manager) => {
      const user = await lockIdentity(manager, identity, updatedAt);
      if (!user) return null;
      const { id } = user;
      if (user.isStale) return { id, outcome: 'stale', revokedGrants: 0 };
      const revokedGrants = await disableLocked(manager, id, 'product');
      await manager.query('UPDATE users SET external_updated_at = $2 WHERE id = $1', [id, updatedAt]);
      const outcome = user.disabledBy.includes('product') ? 'disabled_before' : 'disabled';
      return { id, outcome, revokedGrants };
    });
  }

  /**
   * Undoes `disable`. Revoked grants stay revoked, and old sessions stay invalid.
   * @param overrideProduct also undoes `disableIdentity`
   * @returns null if the user does not exist
   */
  enable(id: number, overrideProduct = false): Promise<Enabling | null> {
    return this.transaction(async (manager) => {
      const user = await lock(manager, 'id = $1', [id]);
      if (!user) return null;
      const { disabledBy } = user;
      const wasDisabled = disabledBy.length > 0;
      if (wasDisabled)
        await manager.query(
          `UPDATE users SET operator_disabled_at = NULL, session_generation = session_generation + 1,
             product_disabled_at = CASE WHEN $2 THEN NULL ELSE product_disabled_at END
           WHERE id = $1`,
          [id, overrideProduct],
        );
      return { wasDisabled, disabledBy: disabledBy.filter((by) => by === 'product' && !overrideProduct) };
    });
  }

  /**
   * Revokes every grant of a user, then deletes the row with all personal data. Grant records stay until they expire, because
   * Redis needs the revocations after a failover. A hash of the identity stays, so that a delayed change cannot recreate the
   * user.
   * @returns null if the user does not exist
   */
  delete(id: number): Promise<{ readonly revokedGrants: number } | null> {
    return this.transaction(async (manager) => {
      // Before the row lock, as in deleteIdentity.
      await manager.query(`SELECT ${EXCLUDE_CREATIONS} FROM users WHERE id = $1`, [id]);
      const user = await lock(manager, 'id = $1', [id]);
      if (!user) return null;
      const { issuer, externalId } = user;
      if (issuer !== null && externalId !== null)
        await rememberDeletion(manager, { issuer, externalId }, null);
      return { revokedGrants: await deleteLocked(manager, id) };
    });
  }

  /**
   * Like `delete`, for a change by the product. Ignores a change older than the stored one. Records the deletion even if the
   * user does not exist.
   * @param updatedAt RFC 3339
   */
  deleteIdentity(identity: Identity, updatedAt: string): Promise<IdentityDeletion> {
    return this.transaction(async (manager) => {
      await manager.query(
        `SELECT ${EXCLUDE_CREATIONS} FROM (SELECT $1::text AS issuer, $2::text AS external_id) identity`,
        [identity.issuer, identity.externalId],
      );
      const user = await lockIdentity(manager, identity, updatedAt);
      if (user?.isStale) return { outcome: 'stale', id: user.id, revokedGrants: 0 };
      const wasDeleted = await rememberDeletion(manager, identity, updatedAt);
      if (!user) return { outcome: wasDeleted ? 'deleted_before' : 'unknown' };
      return { outcome: 'deleted', id: user.id, revokedGrants: await deleteLocked(manager, user.id) };
    });
  }

  /**
   * @param passwordHash from `hashPassword`
   * @returns false if the user does not exist
   */
  async setPassword(id: number, passwordHash: string, endSessions: boolean): Promise<boolean> {
    const [, changed] = await this.dataSource.query<[unknown, number]>(
      `UPDATE users SET password_hash = $2, session_generation = session_generation + $3::integer WHERE id = $1`,
      [id, passwordHash, endSessions ? 1 : 0],
    );
    return changed === 1;
  }

  private transaction<T>(act: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(ISOLATION_LEVEL, act);
  }
}

/** SQL: excludes statements that create a user with this identity, until the transaction ends. */
const EXCLUDE_CREATIONS = `pg_advisory_xact_lock(hashtextextended(issuer || E'\\n' || external_id, 0))`;

interface LockedUser {
  readonly id: number;
  readonly issuer: string | null;
  readonly externalId: string | null;
  readonly disabledBy: readonly Disabler[];
}

/** @returns null if no user matches */
async function lock<More = unknown>(
  manager: EntityManager,
  condition: string,
  values: readonly unknown[],
  more = '',
): Promise<(LockedUser & More) | null> {
  const [user] = await manager.query<(LockedUser & More)[]>(
    `SELECT id, issuer, external_id AS "externalId", ${DISABLED_BY}${more} FROM users WHERE ${condition} FOR UPDATE`,
    [...values],
  );
  return user ?? null;
}

/** `isStale`: a newer change is stored. */
function lockIdentity(
  manager: EntityManager,
  { issuer, externalId }: Identity,
  updatedAt: string,
): Promise<(LockedUser & { readonly isStale: boolean }) | null> {
  return lock(
    manager,
    'issuer = $1 AND external_id = $2',
    [issuer, externalId, updatedAt],
    `, coalesce(external_updated_at > $3::timestamptz, false) AS "isStale"`,
  );
}

/** @returns the number of grants revoked */
async function disableLocked(manager: EntityManager, id: number, by: Disabler): Promise<number> {
  const revokedGrants = await revokeEveryGrant(manager, id);
  const column = `${by}_disabled_at`;
  await manager.query(
    `UPDATE users SET ${column} = coalesce(${column}, now()), session_generation = session_generation + 1 WHERE id = $1`,
    [id],
  );
  return revokedGrants;
}

/** @returns the number of grants revoked */
async function deleteLocked(manager: EntityManager, id: number): Promise<number> {
  const revokedGrants = await revokeEveryGrant(manager, id);
  await manager.query('DELETE FROM users WHERE id = $1', [id]);
  return revokedGrants;
}

/**
 * Records the hash of a deleted identity, and removes expired hashes.
 * @param at RFC 3339; null for now
 * @returns true if a deletion was already recorded
 */
async function rememberDeletion(
  manager: EntityManager,
  { issuer, externalId }: Identity,
  at: string | null,
): Promise<boolean> {
  await manager.query(
    `DELETE FROM deleted_identities WHERE identity IN (
       SELECT identity FROM deleted_identities WHERE expires_at < now() ORDER BY expires_at LIMIT 1000 FOR UPDATE SKIP LOCKED
     )`,
  );
  const [recorded] = await manager.query<{ wasDeleted: boolean }[]>(
    `WITH before AS (SELECT FROM deleted_identities WHERE identity = deleted_identity($1, $2))
     INSERT INTO deleted_identities AS known (identity, deleted_at)
     VALUES (deleted_identity($1, $2), coalesce($3::timestamptz, now()))
     ON CONFLICT (identity) DO UPDATE
       SET deleted_at = greatest(known.deleted_at, excluded.deleted_at), expires_at = excluded.expires_at
     RETURNING EXISTS (SELECT FROM before) AS "wasDeleted"`,
    [issuer, externalId, at],
  );
  return recorded?.wasDeleted ?? false;
}

async function revokeEveryGrant(manager: EntityManager, userId: number): Promise<number> {
  const revoked = await revokeGrants(manager, 'user_id = $1 AND revoked_at IS NULL', [userId]);
  return revoked.length;
}
