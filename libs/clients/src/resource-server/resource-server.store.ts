import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, type Repository } from 'typeorm';
import {
  type ResourceServer,
  ResourceServerEntity,
  type ResourceServerWithHash,
} from './resource-server.entity.js';
import { checkVersion, outdated } from '#platform/validation/administration.error.js';
import { type ClientKeys, generateResourceServerId } from '#oauth/oauth-client.js';

/** Other texts cannot be ids, and PostgreSQL rejects NUL. */
const ID = /^rs_[a-z2-7]{24}$/;

/** Never returns revoked accounts. */
@Injectable()
export class ResourceServerStore {
  private readonly servers: Repository<ResourceServerEntity>;

  constructor(dataSource: DataSource) {
    this.servers = dataSource.getRepository(ResourceServerEntity);
  }

  async find(id: string): Promise<ResourceServer | null> {
    if (!ID.test(id)) return null;
    const server = await this.servers.findOneBy({ id, revokedAt: IsNull() });
    return server && toResourceServer(server);
  }

  /** Like `find`, for the authentication of an API. */
  async findWithHash(id: string): Promise<ResourceServerWithHash | null> {
    if (!ID.test(id)) return null;
    const server = await this.servers
      .createQueryBuilder('server')
      .addSelect('server.secretHash')
      .where({ id, revokedAt: IsNull() })
      .getOne();
    if (!server) return null;
    const { secretHash: hash } = server;
    return { ...toResourceServer(server), secrets: hash ? [{ id, hash }] : [] };
  }

  async list(): Promise<ResourceServer[]> {
    const servers = await this.servers.find({
      where: { revokedAt: IsNull() },
      order: { createdAt: 'ASC', id: 'ASC' },
    });
    return servers.map(toResourceServer);
  }

  /** @param credential SHA-256 of the secret, 32 bytes; or public keys */
  async create(name: string, credential: Buffer | ClientKeys): Promise<ResourceServer> {
    const method = Buffer.isBuffer(credential)
      ? { secretHash: credential, jwks: null, jwksUri: null }
      : { secretHash: null, ...credential };
    const created = this.servers.create({ id: generateResourceServerId(), name, ...method });
    await this.servers.insert(created);
    return toResourceServer(created);
  }

  /**
   * Changes the name, or replaces the secret or the keys by other keys.
   * @returns null if the account is unknown or revoked
   */
  async update(
    id: string,
    { name, ...keys }: { readonly name?: string } & Partial<ClientKeys>,
    expectedVersion?: number,
  ): Promise<{ readonly before: ResourceServer; readonly after: ResourceServer } | null> {
    const before = await this.find(id);
    if (!before) return null;
    const credential = keys.jwks === undefined ? {} : { secretHash: null, ...keys };
    const changes = { ...(name !== undefined && { name }), ...credential };
    const current = { id, version: expectedVersion ?? before.version, revokedAt: IsNull() };
    const { affected } = await this.servers.update(current, changes);
    if (affected !== 1) throw outdated('account');
    const after = await this.find(id);
    return after && { before, after };
  }

  /** @returns false if the account is unknown or already revoked */
  async revoke(id: string, expectedVersion?: number): Promise<boolean> {
    const server = await this.find(id);
    if (!server) return false;
    checkVersion(server, expectedVersion, 'account');
    const { version } = server;
    const current = { id, version, revokedAt: IsNull() };
    const { affected } = await this.servers.update(current, { revokedAt: () => 'now()' });
    return affected === 1;
  }
}

function toResourceServer(entity: ResourceServerEntity): ResourceServer {
  const { id, name, version, jwks, jwksUri, createdAt } = entity;
  return { id, name, version, jwks, jwksUri, createdAt };
}
