import type { EntityManager } from 'typeorm';

export interface NewGrantRecord {
  id: string;
  userId: number;
  clientId: string;
  /** What the user allowed. */
  scope: string;
  /** What the client had asked for; what of it is not in `scope`, the user declined. */
  askedScope: string;
  /** When the grant ends unless it is used; the time from now until then slides with its use. */
  expiresAt: Date;
  /**
   * Whether it only carries on what the user allowed before, without being asked: then it is not recorded when one of
   * its scopes is in no live grant to the client any more.
   */
  carriesOn?: boolean;
}

/**
 * What a grant that carries on is joined with: of each scope the newest grant that holds it, locked after client and user
 * in the order of ids, as everybody locks grants.
 */
const CARRIED = `
  CROSS JOIN LATERAL (
    SELECT string_agg(scope, ' ') AS scope FROM (
      SELECT g.scope FROM grants g
      WHERE g.revoked_at IS NULL AND g.expires_at > now() AND g.id IN (
        SELECT newest.id FROM unnest(string_to_array($4, ' ')) token CROSS JOIN LATERAL (
          SELECT id FROM grants
          WHERE user_id = account.user_id AND client_id = client.client_id
            AND revoked_at IS NULL AND expires_at > now() AND token = ANY(string_to_array(scope, ' '))
          ORDER BY created_at DESC LIMIT 1
        ) newest
      )
      ORDER BY g.id FOR SHARE
    ) held
  ) carried
  WHERE string_to_array($4, ' ') <@ string_to_array(carried.scope, ' ')`;

/**
 * Locks a client, and the user who decides about it, in the order in which everybody does; no row when one is not there, or
 * the user is disabled.
 */
export const CLIENT_AND_USER = `
  SELECT 1 FROM (SELECT client_id FROM clients WHERE client_id = $1 AND deleted_at IS NULL FOR SHARE) client
  CROSS JOIN LATERAL (
    SELECT u.id FROM users u
    WHERE u.id = $2 AND u.disabled_at IS NULL AND client.client_id IS NOT NULL FOR NO KEY UPDATE
  ) account`;

/**
 * Those of anybody that were revoked first: nobody else deletes what a user left who is gone. More than one, so that they
 * become fewer.
 */
const LONGEST_REVOKED = `SELECT id FROM grants WHERE revoked_at IS NOT NULL ORDER BY revoked_at LIMIT 10`;

/** The statement of `GrantRecordStore.create`. */
export async function recordGrant(
  on: Pick<EntityManager, 'query'>,
  { id, userId, clientId, scope, askedScope, expiresAt, carriesOn = false }: NewGrantRecord,
): Promise<boolean> {
  const created = await on.query<unknown[]>(
    `WITH expired AS (
            DELETE FROM grants WHERE id IN (
              SELECT id FROM grants
              WHERE (user_id = $2 OR id = ANY(ARRAY(${LONGEST_REVOKED}))) AND expires_at < now()
                AND (revoked_at IS NULL OR revoked_at < now() - interval '1 day')
              FOR UPDATE SKIP LOCKED
            )
          ),
          client AS (SELECT client_id FROM clients WHERE client_id = $3 AND deleted_at IS NULL FOR SHARE)
     INSERT INTO grants (id, user_id, client_id, scope, asked_scope, expires_at, lifetime)
     SELECT $1, user_id, client_id, $4, $5, $6::timestamptz, $6::timestamptz - now() FROM client
     CROSS JOIN LATERAL (
       SELECT u.id AS user_id FROM users u
       WHERE u.id = $2 AND u.disabled_at IS NULL AND client.client_id IS NOT NULL FOR SHARE
     ) account
     ${carriesOn ? CARRIED : ''}
     RETURNING id`,
    [id, userId, clientId, scope, askedScope, expiresAt],
  );
  return created.length === 1;
}
