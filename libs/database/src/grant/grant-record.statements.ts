import type { EntityManager } from 'typeorm';

export interface NewGrantRecord {
  id: string;
  userId: number;
  clientId: string;
  /** What the user allowed. */
  scope: string;
  /** What the client requested; the user declined whatever is missing from `scope`. */
  askedScope: string;
  /** When an unused grant expires. Each use extends the expiry by the same lifetime. */
  expiresAt: Date;
  /**
   * Whether it continues an earlier consent without asking the user again. Then it is recorded only if every scope is still
   * in a live grant to the client.
   */
  continuesConsent?: boolean;
}

/**
 * The check for `continuesConsent`: for each scope the newest live grant that holds it, locked after client and user and in id
 * order, as all code does.
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
 * Locks client, then user, in the order that all code uses. Returns no row if either is missing or the user is disabled.
 */
export const CLIENT_AND_USER = `
  SELECT 1 FROM (SELECT client_id FROM clients WHERE client_id = $1 AND deleted_at IS NULL FOR SHARE) client
  CROSS JOIN LATERAL (
    SELECT u.id FROM users u
    WHERE u.id = $2 AND u.disabled_at IS NULL AND client.client_id IS NOT NULL FOR NO KEY UPDATE
  ) account`;

/**
 * The oldest revoked grants of any user, so that a deleted user's grants are cleaned up as well. Several per insert, so that
 * their number shrinks.
 */
const LONGEST_REVOKED = `
  SELECT id FROM grants WHERE revocation_applied_at IS NOT NULL ORDER BY revocation_applied_at LIMIT 10`;

/** The statement of `GrantRecordStore.create`. */
export async function recordGrant(
  on: Pick<EntityManager, 'query'>,
  { id, userId, clientId, scope, askedScope, expiresAt, continuesConsent = false }: NewGrantRecord,
): Promise<boolean> {
  const created = await on.query<unknown[]>(
    `WITH expired AS (
            DELETE FROM grants WHERE id IN (
              SELECT id FROM grants
              WHERE (user_id = $2 OR id = ANY(ARRAY(${LONGEST_REVOKED}))) AND expires_at < now()
                AND (revoked_at IS NULL OR revocation_applied_at < now() - interval '1 day')
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
     ${continuesConsent ? CARRIED : ''}
     RETURNING id`,
    [id, userId, clientId, scope, askedScope, expiresAt],
  );
  return created.length === 1;
}

/**
 * Revokes a user's grants. Expired ones too, because a recent use may not be recorded yet. Locks rows in id order, as all code
 * does. Of two concurrent calls both return the same ids, so that neither reports success while the other one fails. The caller
 * locks the user in an earlier statement, so that this one sees what it waited for.
 *
 * @param whose SQL condition on the user's grants
 * @returns ids of the grants revoked now, in the last ten minutes, or earlier and not applied yet
 */
export async function revokeGrants(
  manager: EntityManager,
  whose: string,
  values: readonly unknown[],
): Promise<string[]> {
  const [revoked] = await manager.query<[{ id: string }[], number]>(
    `WITH matching AS (
       SELECT id FROM grants
       WHERE ${whose} AND (revocation_applied_at IS NULL OR revoked_at > now() - interval '10 minutes')
       ORDER BY id FOR NO KEY UPDATE
     )
     UPDATE grants g SET revoked_at = coalesce(g.revoked_at, now()) FROM matching
     WHERE g.id = matching.id RETURNING g.id`,
    [...values],
  );
  return revoked.map(({ id }) => id);
}
