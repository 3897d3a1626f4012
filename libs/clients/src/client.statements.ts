import { createHash, randomBytes } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { ClientEntity, ClientLogoEntity, SubjectSectorEntity } from './client.entity.js';
import { type ClientCondition, type ClientLogo, unknownClient } from './client.js';
import { ClientOwnerEntity } from './owners/client-owner.entity.js';
import { checkVersion } from '#platform/validation/administration.error.js';

/** Serializes changes to a client. @throws AdministrationError `client_unknown`, `version_outdated` */
export async function lockClient(
  manager: EntityManager,
  clientId: string,
  condition?: ClientCondition,
): Promise<ClientEntity> {
  const client = await lockExisting(manager, clientId, condition);
  if (!client) throw unknownClient(clientId);
  return client;
}

/** Like `lockClient`. @returns null if the client is unknown or deleted, or the user does not own it */
export async function lockExisting(
  manager: EntityManager,
  clientId: string,
  { version, owner, operator, check }: ClientCondition = {},
): Promise<ClientEntity | null> {
  const client = await manager.findOne(ClientEntity, {
    where: { clientId },
    lock: { mode: 'for_no_key_update' },
  });
  if (!client) return null;
  // Owners are added and removed under the lock of the client.
  if (owner !== undefined && !(await manager.existsBy(ClientOwnerEntity, { clientId, userId: owner })))
    return null;
  if (operator !== undefined) await recordOperator(manager, operator);
  check?.(client);
  checkVersion(client, version, 'application');
  return client;
}

/** Names the operator of the transaction in the history of clients. */
export async function recordOperator(manager: EntityManager, operator: string): Promise<void> {
  await manager.query(`SELECT set_config('oauth.operator', $1, true)`, [operator]);
}

/** Returns the sector with its key, which is generated once and never changes. */
export async function ensureSector(manager: EntityManager, sector: string): Promise<SubjectSectorEntity> {
  await manager
    .createQueryBuilder()
    .insert()
    .into(SubjectSectorEntity)
    .values({ sector, key: randomBytes(32) })
    .orIgnore()
    .execute();
  return manager.findOneByOrFail(SubjectSectorEntity, { sector });
}

/** Sets or replaces a logo. The caller must have locked the client's row. @returns the digest */
export async function writeClientLogo(
  manager: EntityManager,
  clientId: string,
  { mediaType, image }: ClientLogo,
): Promise<string> {
  const digest = createHash('sha256').update(image).digest('hex');
  await manager.upsert(ClientLogoEntity, { clientId, digest, mediaType, image }, ['clientId']);
  return digest;
}
