import type { EntityManager } from 'typeorm';
import { revokeGrants } from '#grants/records/grant-record.statements.js';
import { mayChangeRole, privilegedAccount } from './operators/console-role.js';
import { deleteInvitationsOf } from './operators/console-operator.statements.js';
import { DeletedIdentityEntity, UserEntity } from './user.entity.js';
import type { AccountCondition, Identity } from './user.js';
import { checkVersion } from '#platform/validation/administration.error.js';
import { NEXT_GENERATION } from './user.store.js';

export type Disabler = 'operator' | 'product';

/**
 * Blocks statements that create a user with this identity, until the transaction ends.
 * @param from SQL of a FROM clause with the columns issuer and external_id
 */
export async function excludeCreations(
  manager: EntityManager,
  from: string,
  values: (number | string)[],
): Promise<void> {
  const key = `hashtextextended(issuer || E'\\n' || external_id, 0)`;
  await manager.query(`SELECT pg_advisory_xact_lock(${key}) FROM ${from}`, values);
}

/** @returns null if the user does not exist @throws AdministrationError if `condition` is not met */
export async function lockAccount(
  manager: EntityManager,
  id: number,
  { version, actor }: AccountCondition = {},
): Promise<UserEntity | null> {
  const user = await manager
    .createQueryBuilder(UserEntity, 'user')
    .addSelect('user.consoleRole')
    .where({ id })
    .setLock('pessimistic_write')
    .getOne();
  if (!user) return null;
  if (actor && !mayChangeRole(actor.role, user.consoleRole)) throw privilegedAccount(actor, 'user');
  checkVersion(user, version, 'user');
  return user;
}

/** Sets `isStale` if a newer change is stored. PostgreSQL compares the times, because a Date has no microseconds. */
export async function lockIdentity(
  manager: EntityManager,
  { issuer, externalId }: Identity,
  updatedAt: string,
): Promise<{ user: UserEntity | undefined; isStale: boolean }> {
  const { entities, raw } = await manager
    .createQueryBuilder(UserEntity, 'user')
    .addSelect('coalesce(user.externalUpdatedAt > :updatedAt, false)', 'isStale')
    .where({ issuer, externalId })
    .setParameter('updatedAt', updatedAt)
    .setLock('pessimistic_write')
    .getRawAndEntities<{ isStale: boolean }>();
  return { user: entities[0], isStale: raw[0]?.isStale ?? false };
}

/** @param updatedAt time of the product's change (RFC 3339) @returns the number of grants revoked */
export async function disableLocked(
  manager: EntityManager,
  id: number,
  by: Disabler,
  updatedAt?: string,
): Promise<number> {
  const revokedGrants = await revokeEveryGrant(manager, id);
  await manager
    .createQueryBuilder()
    .update(UserEntity)
    .set({
      [`${by}DisabledAt`]: () => `coalesce(${by}_disabled_at, now())`,
      ...NEXT_GENERATION,
      // Passed as a parameter, because TypeORM would convert a value to a Date, which has no microseconds.
      ...(updatedAt !== undefined && { externalUpdatedAt: () => ':updatedAt' }),
    })
    .where({ id })
    .setParameters({ updatedAt })
    .execute();
  return revokedGrants;
}

/** @returns the number of grants revoked */
export async function deleteLocked(manager: EntityManager, id: number): Promise<number> {
  const revokedGrants = await revokeEveryGrant(manager, id);
  await deleteInvitationsOf(manager, id);
  await manager.delete(UserEntity, { id });
  return revokedGrants;
}

/** Records a deletion; removes expired hashes. @param at RFC 3339, or null for now @returns true if already recorded */
export async function rememberDeletion(
  manager: EntityManager,
  { issuer, externalId }: Identity,
  at: string | null,
): Promise<boolean> {
  await manager
    .createQueryBuilder()
    .delete()
    .from(DeletedIdentityEntity)
    .where(
      `identity IN (
         SELECT identity FROM deleted_identities WHERE expires_at < now() ORDER BY expires_at LIMIT 1000 FOR UPDATE SKIP LOCKED
       )`,
    )
    .execute();
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
  const revoked = await revokeGrants(manager, 'user_id = $1 AND revoked_at IS NULL', [userId], 'account');
  return revoked.length;
}
