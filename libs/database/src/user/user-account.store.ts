import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { type Identity, type User, USER_FIELDS } from './user.js';
import { revokeGrants } from '../grant/grant-record.statements.js';

/** A user as the operator sees them. */
export interface UserAccount {
  readonly id: number;
  readonly username: string;
  readonly email: string;
  readonly name: string;
  readonly createdAt: Date;
  /** Null if not disabled. */
  readonly disabledAt: Date | null;
}

/** What the operator sees besides the profile. */
export interface UserAccountDetails extends Pick<UserAccount, 'createdAt' | 'disabledAt'> {
  /** Whether the user can log in with a password here. */
  readonly hasPassword: boolean;
  /** Number of grants that are neither revoked nor expired. */
  readonly liveGrants: number;
}

/** Result of `disable`. */
export interface Disabling {
  /** False if the user was already disabled. */
  readonly first: boolean;
  readonly revokedGrants: number;
}

/** Result of `disableIdentity`. */
export interface IdentityDisabling {
  readonly id: number;
  readonly outcome: 'disabled' | 'disabled_before' | 'stale';
  readonly revokedGrants: number;
}

/** Whatever the server's default: statements after the lock see what its previous holder committed. */
const LEVEL = 'READ COMMITTED';

export interface UserFilter {
  /** Substring of the email, username or name, case-insensitive; empty matches everyone. */
  readonly search?: string | undefined;
  /** Returns only users with a greater id. */
  readonly after?: number | undefined;
  readonly limit: number;
}

/**
 * The operator's changes to users. Methods that revoke grants lock the user first: they see and revoke a grant that is being
 * recorded concurrently, and a later one is refused.
 */
@Injectable()
export class UserAccountStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Lists users in id order. */
  list({ search = '', after, limit }: UserFilter): Promise<UserAccount[]> {
    // strpos, not LIKE: % and _ match themselves. PostgreSQL cannot store NUL, so no name contains it.
    if (search.includes('\0')) return Promise.resolve([]);
    return this.dataSource.query<UserAccount[]>(
      `SELECT id, username, email, name, created_at AS "createdAt", disabled_at AS "disabledAt" FROM users
       WHERE ($1::integer IS NULL OR id > $1) AND ($2 = '' OR strpos(lower(concat_ws(E'\\n', email, username, name)), lower($2)) > 0)
       ORDER BY id LIMIT $3`,
      [after ?? null, search, limit],
    );
  }

  /**
   * Finds the users whom an operator may mean: by email or username in any letter case, by external id, or by id as `id:1`.
   * Users without a password may share an email.
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

  /** @returns null if there is no such user */
  async details(id: number): Promise<UserAccountDetails | null> {
    const [found] = await this.dataSource.query<UserAccountDetails[]>(
      `SELECT created_at AS "createdAt", disabled_at AS "disabledAt", password_hash IS NOT NULL AS "hasPassword",
         (SELECT count(*)::integer FROM grants WHERE user_id = users.id AND revoked_at IS NULL AND expires_at > now()) AS "liveGrants"
       FROM users WHERE id = $1`,
      [id],
    );
    return found ?? null;
  }

  /**
   * Disables a user: ends every session, revokes every grant, and blocks new ones, in one transaction. Safe to repeat.
   *
   * @returns null if there is no such user
   */
  disable(id: number): Promise<Disabling | null> {
    return this.withLocked(id, async (manager, disabledAt) => {
      const revokedGrants = await disableLocked(manager, id);
      return { first: disabledAt === null, revokedGrants };
    });
  }

  /**
   * As `disable`, for a change of the product: does nothing if a newer one was applied before.
   *
   * @param updatedAt RFC 3339
   * @returns null if there is no such user
   */
  disableIdentity({ issuer, externalId }: Identity, updatedAt: string): Promise<IdentityDisabling | null> {
    return this.dataSource.transaction(LEVEL, async (manager) => {
      const [user] = await manager.query<{ id: number; isDisabled: boolean; isStale: boolean }[]>(
        `SELECT id, disabled_at IS NOT NULL AS "isDisabled", coalesce(external_updated_at > $3::timestamptz, false) AS "isStale"
         FROM users WHERE issuer = $1 AND external_id = $2 FOR UPDATE`,
        [issuer, externalId, updatedAt],
      );
      if (!user) return null;
      const { id, isDisabled, isStale } = user;
      if (isStale) return { id, outcome: 'stale', revokedGrants: 0 };
      const revokedGrants = await disableLocked(manager, id);
      await manager.query('UPDATE users SET external_updated_at = $2 WHERE id = $1', [id, updatedAt]);
      return { id, outcome: isDisabled ? 'disabled_before' : 'disabled', revokedGrants };
    });
  }

  /**
   * Allows a disabled user to log in again. Revoked grants stay revoked and old sessions stay invalid, however the user was
   * disabled.
   *
   * @returns whether they were disabled; null if there is no such user
   */
  enable(id: number): Promise<boolean | null> {
    return this.withLocked(id, async (manager, disabledAt) => {
      await manager.query(
        `UPDATE users SET disabled_at = NULL, session_generation = session_generation + 1
         WHERE id = $1 AND disabled_at IS NOT NULL`,
        [id],
      );
      return disabledAt !== null;
    });
  }

  /**
   * Revokes every grant of a user, then deletes the row with all personal data. Grant records stay until they expire, because
   * a Redis that fails over must learn of the revocations.
   *
   * @returns the number of grants revoked; null if there is no such user
   */
  delete(id: number): Promise<{ readonly revokedGrants: number } | null> {
    return this.withLocked(id, async (manager) => {
      const revokedGrants = await revokeEveryGrant(manager, id);
      await manager.query('DELETE FROM users WHERE id = $1', [id]);
      return { revokedGrants };
    });
  }

  /**
   * @param passwordHash from `hashPassword`
   * @param endSessions whether to end every existing session
   * @returns false if there is no such user
   */
  async setPassword(id: number, passwordHash: string, endSessions: boolean): Promise<boolean> {
    const [, changed] = await this.dataSource.query<[unknown, number]>(
      `UPDATE users SET password_hash = $2, session_generation = session_generation + $3::integer WHERE id = $1`,
      [id, passwordHash, endSessions ? 1 : 0],
    );
    return changed === 1;
  }

  private withLocked<T>(
    id: number,
    act: (manager: EntityManager, disabledAt: Date | null) => Promise<T>,
  ): Promise<T | null> {
    return this.dataSource.transaction(LEVEL, async (manager) => {
      const [user] = await manager.query<{ disabledAt: Date | null }[]>(
        'SELECT disabled_at AS "disabledAt" FROM users WHERE id = $1 FOR UPDATE',
        [id],
      );
      return user ? act(manager, user.disabledAt) : null;
    });
  }
}

/** @returns the number of grants revoked */
async function disableLocked(manager: EntityManager, id: number): Promise<number> {
  const revokedGrants = await revokeEveryGrant(manager, id);
  await manager.query(
    `UPDATE users SET disabled_at = coalesce(disabled_at, now()), session_generation = session_generation + 1 WHERE id = $1`,
    [id],
  );
  return revokedGrants;
}

async function revokeEveryGrant(manager: EntityManager, userId: number): Promise<number> {
  const revoked = await revokeGrants(manager, 'user_id = $1 AND revoked_at IS NULL', [userId]);
  return revoked.length;
}
