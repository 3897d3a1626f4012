import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { BATCH } from './grant-record.statements.js';

export interface AdministeredGrant {
  readonly id: string;
  readonly userId: number;
  /** Null if the user was deleted. */
  readonly username: string | null;
  readonly clientId: string;
  readonly clientName: string;
  readonly scope: string;
  readonly createdAt: Date;
  /** UTC date, YYYY-MM-DD; null if unused. */
  readonly lastUsedOn: string | null;
  readonly expiresAt: Date;
  readonly revokedAt: Date | null;
}

/** Selects grants of a user, to a client, or both. */
export interface GrantOwner {
  readonly userId?: number | undefined;
  readonly clientId?: string | undefined;
}

export interface GrantPage {
  /** Includes revoked and expired grants. */
  readonly ended: boolean;
  /** Id of a grant; only older grants are returned. */
  readonly before?: string | undefined;
  readonly limit: number;
}

const GRANTS = `
  SELECT g.id, g.user_id AS "userId", u.username, g.client_id AS "clientId", c.name AS "clientName", g.scope,
         g.created_at AS "createdAt", g.last_used_on::text AS "lastUsedOn", g.expires_at AS "expiresAt",
         g.revoked_at AS "revokedAt"
  FROM grants g JOIN clients c USING (client_id) LEFT JOIN users u ON u.id = g.user_id`;

const OWNED = '($1::integer IS NULL OR g.user_id = $1) AND ($2::text IS NULL OR g.client_id = $2)';
const LIVE = 'g.revoked_at IS NULL AND g.expires_at > now()';

/** Lists and revokes grants for the operator. */
@Injectable()
export class GrantAdministrationStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Lists grants, newest first. */
  list(owner: GrantOwner, { ended, before, limit }: GrantPage): Promise<AdministeredGrant[]> {
    return this.dataSource.query<AdministeredGrant[]>(
      `${GRANTS} WHERE ${OWNED} AND ($3 OR (${LIVE}))
         AND ($4::text IS NULL OR (g.created_at, g.id) < (SELECT created_at, id FROM grants WHERE id = $4))
       ORDER BY g.created_at DESC, g.id DESC LIMIT $5`,
      [...valuesOf(owner), ended, before ?? null, limit],
    );
  }

  /** Finds a grant, including revoked and expired ones. */
  async find(id: string): Promise<AdministeredGrant | null> {
    const [found] = await this.dataSource.query<AdministeredGrant[]>(`${GRANTS} WHERE g.id = $1`, [id]);
    return found ?? null;
  }

  /** Filters ids of grants (including revoked and expired ones) by client. */
  async ofClient(clientId: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const found = await this.dataSource.query<{ id: string }[]>(
      'SELECT id FROM grants WHERE client_id = $1 AND id = ANY($2)',
      [clientId, ids],
    );
    return new Set(found.map(({ id }) => id));
  }

  /** Counts the live grants per client, in descending order. */
  countLive(owner: GrantOwner): Promise<{ readonly clientId: string; readonly count: number }[]> {
    return this.dataSource.query<{ clientId: string; count: number }[]>(
      `SELECT g.client_id AS "clientId", count(*)::integer AS count FROM grants g WHERE ${OWNED} AND ${LIVE}
       GROUP BY g.client_id ORDER BY count(*) DESC, g.client_id`,
      valuesOf(owner),
    );
  }

  /**
   * Revokes every selected grant, including one that is being recorded concurrently, and expired ones, because a recent use may
   * not be recorded yet. Each batch is a transaction: calling this again continues an interrupted call.
   * @param onBatch receives the number of grants revoked by each batch
   */
  async revoke(owner: GrantOwner, onBatch: (revoked: number) => void): Promise<void> {
    let revoked: number;
    do {
      revoked = await this.dataSource.transaction('READ COMMITTED', (manager) => revokeBatch(manager, owner));
      onBatch(revoked);
    } while (revoked === BATCH);
  }
}

/** Locks client, user and grants in the common lock order, and so waits for grants that are being recorded. */
async function revokeBatch(manager: EntityManager, owner: GrantOwner): Promise<number> {
  const { userId, clientId } = owner;
  if (clientId !== undefined)
    await manager.query('SELECT FROM clients WHERE client_id = $1 FOR NO KEY UPDATE', [clientId]);
  if (userId !== undefined)
    await manager.query('SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE', [userId]);
  const [, revoked] = await manager.query<[unknown, number]>(
    `WITH live AS (
       SELECT g.id FROM grants g WHERE ${OWNED} AND g.revoked_at IS NULL ORDER BY g.id LIMIT ${BATCH} FOR NO KEY UPDATE
     )
     UPDATE grants g SET revoked_at = now() FROM live WHERE g.id = live.id`,
    valuesOf(owner),
  );
  return revoked;
}

function valuesOf({ userId, clientId }: GrantOwner): [number | null, string | null] {
  return [userId ?? null, clientId ?? null];
}
