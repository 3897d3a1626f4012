import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';

/** A user as the operator sees them. */
export interface UserAccount {
  readonly id: number;
  readonly username: string;
  readonly email: string;
  readonly name: string;
  readonly createdAt: Date;
  /** null: not disabled */
  readonly disabledAt: Date | null;
}

/** What a call of `disable` did. */
export interface Disabling {
  /** False when the user was disabled before. */
  readonly first: boolean;
  readonly revokedGrants: number;
}

export interface UserFilter {
  /** A part of the email, username or name, in any letter case; empty: everybody. */
  readonly search?: string | undefined;
  /** Only users with a greater id. */
  readonly after?: number | undefined;
  readonly limit: number;
}

/**
 * What the operator does to users. Whoever ends grants here locks the user first: a grant that is just being recorded is
 * seen and revoked, and one that comes later is refused.
 */
@Injectable()
export class UserAccountStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Users in the order of their ids. */
  list({ search = '', after, limit }: UserFilter): Promise<UserAccount[]> {
    // No LIKE: a percent sign or an underscore is one. NUL, which PostgreSQL cannot store, is in nobody's name.
    if (search.includes('\0')) return Promise.resolve([]);
    return this.dataSource.query<UserAccount[]>(
      `SELECT id, username, email, name, created_at AS "createdAt", disabled_at AS "disabledAt" FROM users
       WHERE ($1::integer IS NULL OR id > $1) AND ($2 = '' OR strpos(lower(concat_ws(E'\\n', email, username, name)), lower($2)) > 0)
       ORDER BY id LIMIT $3`,
      [after ?? null, search, limit],
    );
  }

  /**
   * Disables a user: every session is over, every grant is revoked durably, and neither begins anew. Calling it again ends
   * what is left.
   *
   * @returns null when there is no such user
   */
  disable(id: number): Promise<Disabling | null> {
    return this.withLocked(id, async (manager, disabledAt) => {
      const revokedGrants = await revokeGrants(manager, id);
      await manager.query(
        `UPDATE users SET disabled_at = coalesce(disabled_at, now()), session_generation = session_generation + 1
         WHERE id = $1`,
        [id],
      );
      return { first: disabledAt === null, revokedGrants };
    });
  }

  /**
   * Lets a disabled user in again; what was revoked stays so, and no session is good again, by whatever way they were disabled.
   *
   * @returns false when they were not disabled; null: no such user
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
   * Deletes a user's row, and with it all that is known of the person; every grant is revoked durably before. The records of
   * the grants stay until they have expired: a Redis that fails over has to be told of them.
   *
   * @returns how many grants were revoked; null when there is no such user
   */
  delete(id: number): Promise<{ readonly revokedGrants: number } | null> {
    return this.withLocked(id, async (manager) => {
      const revokedGrants = await revokeGrants(manager, id);
      await manager.query('DELETE FROM users WHERE id = $1', [id]);
      return { revokedGrants };
    });
  }

  /**
   * @param passwordHash by `hashPassword`
   * @param endSessions whether every session that was made before is over
   * @returns false when there is no such user
   */
  async setPassword(id: number, passwordHash: string, endSessions: boolean): Promise<boolean> {
    const [, changed] = await this.dataSource.query<[unknown, number]>(
      `UPDATE users SET password_hash = $2, session_generation = session_generation + $3::integer WHERE id = $1`,
      [id, passwordHash, endSessions ? 1 : 0],
    );
    return changed === 1;
  }

  /** READ COMMITTED, whatever the server's default is: the statements after the lock see what it waited for. */
  private withLocked<T>(
    id: number,
    act: (manager: EntityManager, disabledAt: Date | null) => Promise<T>,
  ): Promise<T | null> {
    return this.dataSource.transaction('READ COMMITTED', async (manager) => {
      const [user] = await manager.query<{ disabledAt: Date | null }[]>(
        'SELECT disabled_at AS "disabledAt" FROM users WHERE id = $1 FOR UPDATE',
        [id],
      );
      return user ? act(manager, user.disabledAt) : null;
    });
  }
}

/** Expired ones too: a use just before may not be noted yet. In the order of ids, as everybody locks grants. */
async function revokeGrants(manager: EntityManager, userId: number): Promise<number> {
  const [, revoked] = await manager.query<[unknown, number]>(
    `WITH live AS (
       SELECT id FROM grants WHERE user_id = $1 AND revoked_at IS NULL ORDER BY id FOR NO KEY UPDATE
     )
     UPDATE grants g SET revoked_at = now() FROM live WHERE g.id = live.id`,
    [userId],
  );
  return revoked;
}
