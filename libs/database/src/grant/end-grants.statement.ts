import type { EntityManager } from 'typeorm';

/**
 * Revokes grants of a user, for good. Expired ones too: a use just before may not be noted yet. Locked in the order of
 * ids, as batches of uses are. Of two at once the one that waited reads the rows anew and returns the same ids: neither
 * tells a user that all is over while the other one fails. The caller locks the user by a statement before, so that this
 * one sees what it waited for.
 *
 * @param whose a condition on the user's grants
 * @returns the ids of those, and of the ones revoked in the last ten minutes
 */
export async function endGrants(
  manager: EntityManager,
  whose: string,
  values: readonly unknown[],
): Promise<string[]> {
  const [revoked] = await manager.query<[{ id: string }[], number]>(
    `WITH maybe_live AS (
       SELECT id FROM grants
       WHERE ${whose} AND (revoked_at IS NULL OR revoked_at > now() - interval '10 minutes')
       ORDER BY id FOR NO KEY UPDATE
     )
     UPDATE grants g SET revoked_at = coalesce(g.revoked_at, now()) FROM maybe_live
     WHERE g.id = maybe_live.id RETURNING g.id`,
    [...values],
  );
  return revoked.map(({ id }) => id);
}
