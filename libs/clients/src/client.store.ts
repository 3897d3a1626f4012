import { Injectable } from '@nestjs/common';
import {
  Any,
  DataSource,
  type EntityManager,
  IsNull,
  Not,
  type Repository,
  type SelectQueryBuilder,
} from 'typeorm';
import { ClientEntity, ClientSecretEntity } from './client.entity.js';
import { INITIAL_FLAGS } from './client-flags.js';
import type { ClientRegistration } from './client-registration.store.js';
import { skeletonOf } from './name-skeleton.js';
import { ensureSector, recordOperator, writeClientLogo } from './client.statements.js';
import {
  type ClientLogo,
  type ClientStage,
  type ClientWithHashes,
  type ClientWithSecrets,
  DuplicateClientError,
  type EnabledClient,
} from './client.js';
import { type ClientType, generateClientId, hasKeys, isClientId } from '#oauth/oauth-client.js';
import { violatedConstraint } from '#platform/postgres/postgres-errors.js';
import type { ListPage, PageRequest } from '#platform/postgres/list-page.js';
import { containing, countOf, idsOf, inOrder, selectPage } from '#platform/postgres/list-page.statements.js';

/** Absent fields of the registration have their initial values. */
export interface NewClient extends Partial<ClientRegistration> {
  readonly name: string;
  readonly type: ClientType;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly string[];
  /** SHA-256 of the secret; absent for public clients (RFC 6749 2.1), and for clients with keys. */
  readonly secretHash?: Buffer;
  readonly logo?: ClientLogo;
  readonly clientId?: string;
  /** `live` if absent. */
  readonly stage?: ClientStage;
  /** Name of the operator in the history; absent if an owner or the service creates the client. */
  readonly operator?: string;
  /** Time of the next fetch of the metadata document, if the client_id is the URL of one. */
  readonly documentDueAt?: Date;
  readonly documentProblem?: string | null;
}

export const CLIENT_KINDS = ['confidential', 'public', 'api', 'document'] as const;
export type ClientKind = (typeof CLIENT_KINDS)[number];

export interface ClientFilter {
  /** Case-insensitive substring of the client_id, the name, a redirect URI or a contact; or `id:` and the client_id. */
  readonly search?: string | undefined;
  readonly state?: 'enabled' | 'disabled' | undefined;
  /** `api`: client of `client_credentials`; `document`: client with a metadata document. */
  readonly kind?: ClientKind | undefined;
}

/** Row with dates as text, because PostgreSQL returns the secrets as JSON. */
type EnabledRow = Omit<EnabledClient, 'secrets'> & {
  readonly secrets: readonly {
    readonly id: string;
    readonly createdAt: string;
    readonly lastUsedAt: string | null;
    readonly expiresAt: string | null;
  }[];
};

const PAGE = 5_000;

/** Expression of the index `clients_search`. */
const SEARCH_TEXT =
  'search_text(ARRAY[client.client_id, client.name] || client.redirect_uris || client.contacts)';

const OF_KIND: Readonly<Record<ClientKind, object>> = {
  confidential: { type: 'confidential', grantType: 'authorization_code' },
  public: { type: 'public' },
  api: { grantType: 'client_credentials' },
  document: { documentDueAt: Not(IsNull()) },
};

const INITIAL = {
  ...INITIAL_FLAGS,
  privateSchemes: [],
  optionalScopes: [],
  idTokenAlg: null,
  sector: null,
  postLogoutRedirectUris: [],
  backchannelLogoutUri: null,
  clientUri: null,
  policyUri: null,
  contacts: [],
  jwks: null,
  jwksUri: null,
  grantType: 'authorization_code',
  deviceGrant: false,
  dpopBound: false,
  keepsRefreshToken: false,
  profile: null,
} as const satisfies Partial<ClientRegistration>;

/** Finds and creates clients. `ClientRegistrationStore` changes and deletes clients. */
@Injectable()
export class ClientStore {
  private readonly clients: Repository<ClientEntity>;

  constructor(private readonly dataSource: DataSource) {
    this.clients = dataSource.getRepository(ClientEntity);
  }

  async find(clientId: string): Promise<ClientWithSecrets | null> {
    if (!isClientId(clientId)) return null;
    const client = await this.withLiveSecrets().where({ clientId }).getOne();
    return client && toClient(client);
  }

  /** Like `find`, for the authentication of a client. */
  async findWithHashes(clientId: string): Promise<ClientWithHashes | null> {
    if (!isClientId(clientId)) return null;
    const client = await this.withLiveSecrets().addSelect('secret.hash').where({ clientId }).getOne();
    if (!client) return null;
    const secrets = (client.secrets ?? []).map(({ id, hash, expiresAt }) => ({ id, hash, expiresAt }));
    return { ...toClient(client), secrets };
  }

  /** Returns the argument if it is a client_id, otherwise the client_ids of clients with this name, oldest first. */
  async identify(idOrName: string): Promise<string[]> {
    const clients = await this.clients.find({
      select: { clientId: true },
      where: [{ clientId: idOrName }, { name: idOrName }],
      order: { createdAt: 'ASC', clientId: 'ASC' },
    });
    const ids = clients.map(({ clientId }) => clientId);
    return ids.includes(idOrName) ? [idOrName] : ids;
  }

  /** Returns the next page of enabled clients with their live secrets, sorted by id; an empty page at the end. */
  async enabled(after: string): Promise<readonly EnabledClient[]> {
    const page = await this.dataSource.query<EnabledRow[]>(
      `SELECT client_id AS "clientId", name, type, redirect_uris AS "redirectUris",
         private_schemes AS "privateSchemes", scopes, id_token_alg AS "idTokenAlg",
         grant_type AS "grantType", jwks, jwks_uri AS "jwksUri", document_problem AS "documentProblem", stage,
         (SELECT coalesce(json_agg(json_build_object('id', id, 'createdAt', created_at, 'lastUsedAt', last_used_at,
            'expiresAt', expires_at)), '[]')
          FROM client_secrets WHERE client_id = clients.client_id AND revoked_at IS NULL) AS secrets
       FROM clients WHERE deleted_at IS NULL AND disabled_at IS NULL AND client_id > $1
       ORDER BY client_id LIMIT ${PAGE}`,
      [after],
    );
    return page.map(({ secrets, ...client }) => ({
      ...client,
      secrets: secrets.map(({ id, createdAt, lastUsedAt, expiresAt }) => ({
        id,
        createdAt: new Date(createdAt),
        lastUsedAt: lastUsedAt === null ? null : new Date(lastUsedAt),
        expiresAt: expiresAt === null ? null : new Date(expiresAt),
      })),
    }));
  }

  async list(filter: ClientFilter, request: PageRequest): Promise<ListPage<ClientWithSecrets>> {
    const page = await selectPage(this.matching(filter), 'clientId', request);
    const clients = await this.withLiveSecrets()
      .andWhere('client.clientId = ANY(:ids)', { ids: page.items })
      .getMany();
    return { ...page, items: inOrder(page.items, clients.map(toClient), ({ clientId }) => clientId) };
  }

  /** Counts at most `MAX_COUNT` + 1 clients. */
  count(filter: ClientFilter): Promise<number> {
    return countOf(this.matching(filter));
  }

  /** Returns at most `MAX_COUNT` + 1 client_ids, newest first. */
  ids(filter: ClientFilter): Promise<string[]> {
    return idsOf(this.matching(filter), 'clientId');
  }

  /** Returns the names of the registered clients among these ids. */
  async names(clientIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const clients = await this.clients.find({
      select: { clientId: true, name: true },
      where: { clientId: Any(clientIds.filter(isClientId)) },
    });
    return new Map(clients.map(({ clientId, name }) => [clientId, name]));
  }

  /** Returns other clients whose names look like this one. */
  async othersLike(
    clientId: string,
    name: string,
  ): Promise<{ readonly clientId: string; readonly name: string }[]> {
    const skeleton = skeletonOf(name);
    const others = await this.dataSource.query<{ clientId: string; name: string }[]>(
      `SELECT client_id AS "clientId", name FROM clients
       WHERE deleted_at IS NULL AND client_id <> $1 AND (name_skeleton = $2 OR name_skeleton IS NULL)`,
      [clientId, skeleton],
    );
    return others.filter((other) => skeletonOf(other.name) === skeleton);
  }

  /** Returns the versions of the clients of `client_credentials` by id. */
  async apiClientVersions(): Promise<ReadonlyMap<string, number>> {
    const clients = await this.clients.find({
      select: { clientId: true, version: true },
      where: { grantType: 'client_credentials' },
    });
    return new Map(clients.map(({ clientId, version }) => [clientId, version]));
  }

  /** Includes deleted clients, whose tokens must stay blocked until a retry completes an interrupted deletion. */
  async listDisabled(): Promise<string[]> {
    const clients = await this.clients.find({
      select: { clientId: true },
      where: { disabledAt: Not(IsNull()) },
      withDeleted: true,
    });
    return clients.map(({ clientId }) => clientId);
  }

  /** Creates a client, its first secret and its logo in one transaction. @throws DuplicateClientError */
  async create(
    {
      secretHash,
      logo,
      clientId = generateClientId(),
      stage = 'live',
      operator,
      documentDueAt,
      documentProblem = null,
      ...given
    }: NewClient,
    within: EntityManager = this.dataSource.manager,
  ): Promise<ClientWithSecrets> {
    const registration = { ...INITIAL, ...given };
    const { name, type, sector } = registration;
    if (type === 'public' && secretHash)
      throw new Error('a public client has no secret: leave secretHash out');
    if (secretHash && hasKeys(registration))
      throw new Error('a client has keys or a secret: leave secretHash out');
    return within.transaction(async (manager) => {
      if (operator !== undefined) await recordOperator(manager, operator);
      const client = manager.create(ClientEntity, {
        ...registration,
        clientId,
        stage,
        disabledAt: null,
        documentDueAt: documentDueAt ?? null,
        documentChangedAt: documentDueAt ? new Date(0) : null,
        documentProblem,
      });
      if (sector !== null) client.subjectSector = await ensureSector(manager, sector);
      // Without RETURNING, because the portal may read a client only after a trigger has recorded its owner.
      const insert = manager
        .createQueryBuilder()
        .insert()
        .into(ClientEntity)
        .values(Object.assign({}, client, { nameSkeleton: skeletonOf(name) }));
      await insert
        .updateEntity(false)
        .execute()
        .catch((error: unknown) => {
          throw violatedConstraint(error) === 'clients_pkey' ? new DuplicateClientError(clientId) : error;
        });
      const { version, createdAt } = await manager.findOneByOrFail(ClientEntity, { clientId });
      Object.assign(client, { version, createdAt });
      if (secretHash) {
        client.secrets = [manager.create(ClientSecretEntity, { clientId, hash: secretHash })];
        await manager.insert(ClientSecretEntity, client.secrets);
      }
      const digest = logo ? await writeClientLogo(manager, clientId, logo) : null;
      return { ...toClient(client), logo: digest };
    });
  }

  private matching({ search = '', state, kind }: ClientFilter): SelectQueryBuilder<ClientEntity> {
    const query = this.clients.createQueryBuilder('client').where('client.deletedAt IS NULL');
    const [, id] = /^id:(.+)$/.exec(search) ?? [];
    if (id !== undefined) query.andWhere('client.clientId = :id', { id });
    else if (search !== '') containing(query, SEARCH_TEXT, search);
    if (state !== undefined) query.andWhere({ disabledAt: state === 'enabled' ? IsNull() : Not(IsNull()) });
    if (kind !== undefined) query.andWhere(OF_KIND[kind]);
    return query;
  }

  private withLiveSecrets(): SelectQueryBuilder<ClientEntity> {
    return this.clients
      .createQueryBuilder('client')
      .leftJoinAndSelect('client.secrets', 'secret', 'secret.revokedAt IS NULL')
      .leftJoinAndSelect('client.logo', 'logo')
      .leftJoinAndSelect('client.subjectSector', 'subjectSector');
  }
}

export function toClient({
  secrets = [],
  logo,
  subjectSector,
  deletedAt: _deleted,
  documentDueAt: dueAt,
  documentChangedAt: changedAt,
  documentProblem: problem,
  ...client
}: ClientEntity): ClientWithSecrets {
  return {
    ...client,
    subjectKey: subjectSector?.key ?? null,
    document: dueAt === null || changedAt === null ? null : { dueAt, changedAt, problem },
    logo: logo?.digest ?? null,
    secrets: secrets.map(({ id }) => ({ id })),
  };
}
