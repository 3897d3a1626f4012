import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, Not, type SelectQueryBuilder } from 'typeorm';
import { generateClientId, type ClientType, isClientId } from '#oauth/client.js';
import { ClientEntity, ClientLogoEntity, ClientSecretEntity } from './client.entity.js';
import { writeClientLogo } from './client-logo.store.js';
import { type ClientLinks, type ClientLogo, type ClientWithSecrets, DuplicateClientError } from './client.js';
import { violatedConstraint } from '../connection/errors.js';

export interface NewClient {
  name: string;
  type: ClientType;
  /** Validated by `registrationProblem`. */
  redirectUris: readonly string[];
  /** The scopes that it may request. */
  scopes: readonly string[];
  /** The scopes that users may decline; none if absent. */
  optionalScopes?: readonly string[];
  /** SHA-256 of the client secret; public clients have none (RFC 6749 2.1). */
  secretHash?: Buffer;
  /** Whether its authorization requests must be pushed (RFC 9126); false if absent. */
  requirePar?: boolean;
  /** Authorization requests need a `state`; true if absent. */
  requireState?: boolean;
  /** Whether users are not asked for consent; false if absent. */
  firstParty?: boolean;
  logo?: ClientLogo;
  links?: ClientLinks;
  /** Generated if absent. */
  clientId?: string;
}

/** The registered applications. Deleted ones are never returned. */
@Injectable()
export class ClientStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Finds a client with its live secrets, in one query; null if it is unknown or deleted. */
  async find(clientId: string): Promise<ClientWithSecrets | null> {
    if (!isClientId(clientId)) return null;
    const found = await this.withLiveSecrets().andWhere('client.clientId = :clientId', { clientId }).getOne();
    return found && toClient(found);
  }

  /** Identifiers of the clients that a person means: of the one with this identifier, else of all with this name, oldest first. */
  async identify(idOrName: string): Promise<string[]> {
    const found = await this.dataSource.manager.find(ClientEntity, {
      select: { clientId: true },
      where: [
        { clientId: idOrName, deletedAt: IsNull() },
        { name: idOrName, deletedAt: IsNull() },
      ],
      order: { createdAt: 'ASC', clientId: 'ASC' },
    });
    const ids = found.map(({ clientId }) => clientId);
    return ids.includes(idOrName) ? [idOrName] : ids;
  }

  /** Lists every client, oldest first. */
  async list(): Promise<ClientWithSecrets[]> {
    const found = await this.withLiveSecrets()
      .orderBy('client.createdAt')
      .addOrderBy('client.clientId')
      .getMany();
    return found.map(toClient);
  }

  /**
   * The identifiers of the clients that are disabled. Also of those deleted since: between the deletion and the end of their
   * tokens, which a command that was killed leaves to its repetition, no token may work again.
   */
  async listDisabled(): Promise<string[]> {
    const found = await this.dataSource.manager.find(ClientEntity, {
      select: { clientId: true },
      where: { disabledAt: Not(IsNull()) },
    });
    return found.map(({ clientId }) => clientId);
  }

  /**
   * Registers a client, its first secret and its logo in one transaction.
   *
   * @throws DuplicateClientError if the given identifier is taken
   */
  async create({
    name,
    type,
    redirectUris,
    scopes,
    optionalScopes = [],
    secretHash,
    requirePar = false,
    requireState = true,
    firstParty = false,
    logo,
    links = { clientUri: null, policyUri: null, contacts: [] },
    clientId = generateClientId(),
  }: NewClient): Promise<ClientWithSecrets> {
    if (type === 'public' && secretHash)
      throw new Error('a public client has no secret: leave secretHash out');
    return this.dataSource.transaction(async (manager) => {
      const client = manager.create(ClientEntity, {
        clientId,
        name,
        type,
        redirectUris: [...redirectUris],
        scopes: [...scopes],
        optionalScopes: [...optionalScopes],
        requirePar,
        requireState,
        firstParty,
        ...links,
        contacts: [...links.contacts],
        disabledAt: null,
      });
      await manager.insert(ClientEntity, client).catch((error: unknown) => {
        throw violatedConstraint(error) === 'clients_pkey' ? new DuplicateClientError(clientId) : error;
      });
      if (secretHash) {
        client.secrets = [
          manager.create(ClientSecretEntity, { id: randomUUID(), clientId, hash: secretHash }),
        ];
        await manager.insert(ClientSecretEntity, client.secrets);
      }
      const digest = logo ? await writeClientLogo(manager, clientId, logo) : null;
      return { ...toClient(client), logo: digest };
    });
  }

  private withLiveSecrets(): SelectQueryBuilder<ClientEntity> {
    return this.dataSource
      .createQueryBuilder(ClientEntity, 'client')
      .leftJoinAndMapMany(
        'client.secrets',
        ClientSecretEntity,
        'secret',
        'secret.clientId = client.clientId AND secret.revokedAt IS NULL',
      )
      .leftJoinAndMapOne('client.logo', ClientLogoEntity, 'logo', 'logo.clientId = client.clientId')
      .where('client.deletedAt IS NULL');
  }
}

function toClient(entity: ClientEntity): ClientWithSecrets {
  const { clientId, name, type, redirectUris, scopes, optionalScopes, requirePar, requireState } = entity;
  const { firstParty, clientUri, policyUri, contacts, secrets = [], logo, createdAt, disabledAt } = entity;
  return {
    clientId,
    name,
    type,
    redirectUris,
    scopes,
    optionalScopes,
    requirePar,
    requireState,
    firstParty,
    clientUri,
    policyUri,
    contacts,
    disabledAt,
    logo: logo?.digest ?? null,
    secrets: secrets.map(({ id, hash }) => ({ id, hash })),
    createdAt,
  };
}
