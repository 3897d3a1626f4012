import { Injectable } from '@nestjs/common';
import { Any, DataSource, type EntityManager, IsNull } from 'typeorm';
import { skeletonOf } from './name-skeleton.js';
import { ensureSector, writeClientLogo } from './client.statements.js';
import { ClientEntity, ClientLogoEntity, ClientSecretEntity } from './client.entity.js';
import type { ClientLogo } from './client.js';
import type { ClientRegistration } from './client-registration.store.js';
import type { ClientType } from '#oauth/oauth-client.js';

export interface TransferredSecret {
  readonly id: string;
  /** SHA-256, 32 bytes. */
  readonly hash: Buffer;
  readonly createdAt: Date;
}

/** Receiver of the client's event stream. Its header is a secret, and is not transferred. */
interface TransferredReceiver {
  readonly eventsUrl: string;
  readonly events: readonly string[];
}

/** Complete client for import into another installation. A client with a metadata document is never transferred. */
export interface TransferredClient extends ClientRegistration {
  readonly clientId: string;
  readonly type: ClientType;
  readonly disabled: boolean;
  readonly createdAt: Date;
  readonly secrets: readonly TransferredSecret[];
  readonly logo: ClientLogo | null;
  readonly receiver: TransferredReceiver | null;
}

export interface KnownClients {
  readonly clients: ReadonlyMap<string, TransferredClient>;
  /** Identifiers of deleted clients, which are never reused. */
  readonly deleted: ReadonlySet<string>;
  readonly secrets: ReadonlyMap<
    string,
    { readonly clientId: string; readonly hash: Buffer; readonly isRevoked: boolean }
  >;
  readonly others: readonly { readonly clientId: string; readonly name: string }[];
}

// Number of an advisory lock: arbitrary, but unique in this database.
const CHANGE_LOCK = 5_264_190_034;

@Injectable()
export class ClientTransferStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Reads all clients, or only `ids`, sorted by identifier. Omits deleted clients and clients with a document. */
  async read(ids?: readonly string[]): Promise<TransferredClient[]> {
    return this.dataSource.transaction('REPEATABLE READ', (manager) => readClients(manager, ids));
  }

  /**
   * Changes many clients atomically. Locks out other transfers, and other changes to these clients.
   * @param named identifiers of the clients and secrets that `decide` needs
   * @param decide returns the new state of each client to create or change; an exception prevents every change
   * @returns false, without calling `decide`, if another transfer is in progress
   */
  async change(
    named: { readonly clientIds: readonly string[]; readonly secretIds: readonly string[] },
    decide: (known: KnownClients) => readonly TransferredClient[],
  ): Promise<boolean> {
    return this.dataSource.transaction(async (manager) => {
      const [{ locked } = { locked: false }] = await manager.query<{ locked: boolean }[]>(
        'SELECT pg_try_advisory_xact_lock($1) AS locked',
        [CHANGE_LOCK],
      );
      if (!locked) return false;
      // Locks the clients in the common lock order.
      await manager.find(ClientEntity, {
        select: { clientId: true },
        where: { clientId: Any(named.clientIds) },
        order: { clientId: 'ASC' },
        withDeleted: true,
        lock: { mode: 'for_no_key_update' },
      });
      const known = await readKnown(manager, named);
      for (const client of decide(known))
        await writeClient(manager, client, known.clients.get(client.clientId) ?? null);
      return true;
    });
  }
}

async function readKnown(
  manager: EntityManager,
  { clientIds, secretIds }: { readonly clientIds: readonly string[]; readonly secretIds: readonly string[] },
): Promise<KnownClients> {
  const clients = await readClients(manager, clientIds);
  const all = await manager.find(ClientEntity, {
    select: { clientId: true, name: true, deletedAt: true },
    order: { clientId: 'ASC' },
    withDeleted: true,
  });
  const secrets = await manager.find(ClientSecretEntity, {
    select: { id: true, clientId: true, hash: true, revokedAt: true },
    where: { id: Any(secretIds) },
  });
  const named = new Set(clientIds);
  return {
    clients: new Map(clients.map((client) => [client.clientId, client])),
    deleted: new Set(all.filter(({ deletedAt }) => deletedAt !== null).map(({ clientId }) => clientId)),
    secrets: new Map(
      secrets.map(({ id, clientId, hash, revokedAt }) => [
        id,
        { clientId, hash, isRevoked: revokedAt !== null },
      ]),
    ),
    others: all.filter(({ clientId, deletedAt }) => deletedAt === null && !named.has(clientId)),
  };
}

async function readClients(manager: EntityManager, ids?: readonly string[]): Promise<TransferredClient[]> {
  const ofClients = ids && { clientId: Any(ids) };
  const clients = await manager.findBy(ClientEntity, { ...ofClients, documentDueAt: IsNull() });
  const secrets = await manager.find(ClientSecretEntity, {
    select: { id: true, clientId: true, hash: true, createdAt: true },
    where: { ...ofClients, revokedAt: IsNull() },
  });
  const logos = await manager.find(ClientLogoEntity, {
    select: { clientId: true, mediaType: true, image: true },
    ...(ofClients && { where: ofClients }),
  });
  const receivers = await manager.query<(TransferredReceiver & { readonly clientId: string })[]>(
    `SELECT client_id AS "clientId", endpoint_url AS "eventsUrl", events_requested AS events
     FROM event_streams WHERE delivery = 'push' AND ($1::text[] IS NULL OR client_id = ANY ($1))`,
    [ids ?? null],
  );
  const receiverOf = new Map(receivers.map(({ clientId, ...receiver }) => [clientId, receiver]));
  const secretsOf = new Map<string, TransferredSecret[]>();
  for (const { id, clientId, hash, createdAt } of secrets) {
    const ofClient = secretsOf.get(clientId) ?? [];
    secretsOf.set(clientId, ofClient);
    ofClient.push({ id, hash, createdAt });
  }
  const logoOf = new Map(logos.map(({ clientId, mediaType, image }) => [clientId, { mediaType, image }]));
  // Sorted here, because the database's collation may differ between installations.
  const sorted = clients.toSorted((a, b) => (a.clientId < b.clientId ? -1 : 1));
  return sorted.map(({ deletedAt: _deleted, disabledAt, logo: _logo, secrets: _secrets, ...client }) => ({
    ...client,
    disabled: disabledAt !== null,
    secrets: secretsOf.get(client.clientId) ?? [],
    logo: logoOf.get(client.clientId) ?? null,
    receiver: receiverOf.get(client.clientId) ?? null,
  }));
}

async function writeClient(
  manager: EntityManager,
  { clientId, type, createdAt, disabled, secrets, logo, receiver, ...client }: TransferredClient,
  before: TransferredClient | null,
): Promise<void> {
  if (client.sector !== null) await ensureSector(manager, client.sector);
  const state =
    disabled === (before?.disabled ?? false) ? {} : { disabledAt: disabled ? () => 'now()' : null };
  const row = { ...client, nameSkeleton: skeletonOf(client.name), ...state };
  if (before) await manager.update(ClientEntity, { clientId }, row);
  else await manager.insert(ClientEntity, { clientId, type, createdAt, ...row });

  const kept = new Set(secrets.map(({ id }) => id));
  const had = new Set(before?.secrets.map(({ id }) => id));
  const revoked = [...had].filter((id) => !kept.has(id));
  if (revoked.length > 0)
    await manager.update(ClientSecretEntity, { id: Any(revoked) }, { revokedAt: () => 'now()' });
  for (const { id, hash, createdAt: secretCreatedAt } of secrets)
    if (!had.has(id))
      await manager.insert(ClientSecretEntity, { id, clientId, hash, createdAt: secretCreatedAt });

  if (logo) await writeClientLogo(manager, clientId, logo);
  else if (before?.logo) await manager.delete(ClientLogoEntity, { clientId });
  if (receiver) await writeReceiver(manager, clientId, receiver);
}

/** Keeps the header of a receiver only if its URL stays, because another receiver must not get the header. */
async function writeReceiver(
  manager: EntityManager,
  clientId: string,
  { eventsUrl, events }: TransferredReceiver,
): Promise<void> {
  await manager.query(
    `WITH same AS (
       UPDATE event_streams SET events_requested = $3
       WHERE client_id = $1 AND delivery = 'push' AND endpoint_url = $2 RETURNING id
     )
     INSERT INTO event_streams (client_id, delivery, endpoint_url, events_requested)
     SELECT $1, 'push', $2, $3 WHERE NOT EXISTS (SELECT FROM same)
     ON CONFLICT (client_id) WHERE delivery <> 'logout' DO UPDATE
     SET delivery = 'push', endpoint_url = excluded.endpoint_url, events_requested = excluded.events_requested,
         authorization_header = NULL, failing_since = NULL, failures = 0, due_at = now()`,
    [clientId, eventsUrl, events],
  );
}
