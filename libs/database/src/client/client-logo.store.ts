import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, IsNull } from 'typeorm';
import { ClientEntity, ClientLogoEntity } from './client.entity.js';
import { type ClientLogo, isLogoDigest } from './client.js';

/** Logos are identified by the digest of the image: clients with the same image share its URL. */
@Injectable()
export class ClientLogoStore {
  constructor(private readonly dataSource: DataSource) {}

  /** @param digests hexadecimal SHA-256 of the images; malformed ones are ignored */
  async find(digests: readonly string[]): Promise<Map<string, ClientLogo>> {
    const possible = digests.filter(isLogoDigest);
    if (possible.length === 0) return new Map();
    const found = await this.dataSource
      .createQueryBuilder(ClientLogoEntity, 'logo')
      .addSelect('logo.image')
      .distinctOn(['logo.digest'])
      .where('logo.digest = ANY(:possible)', { possible })
      .getMany();
    return new Map(found.map(({ digest, mediaType, image }) => [digest, { mediaType, image }]));
  }

  /** Sets or replaces a logo. @returns its digest; null if the client is unknown or deleted */
  async set(clientId: string, logo: ClientLogo): Promise<string | null> {
    return this.dataSource.transaction(async (manager) => {
      const client = await manager.findOne(ClientEntity, {
        where: { clientId, deletedAt: IsNull() },
        lock: { mode: 'for_no_key_update' },
      });
      return client && (await writeClientLogo(manager, clientId, logo));
    });
  }

  /** @returns false if the client had none */
  async remove(clientId: string): Promise<boolean> {
    const { affected } = await this.dataSource.manager.delete(ClientLogoEntity, { clientId });
    return affected === 1;
  }
}

/** Sets or replaces a logo. The caller has locked the client's row. @returns the digest */
export async function writeClientLogo(
  manager: EntityManager,
  clientId: string,
  { mediaType, image }: ClientLogo,
): Promise<string> {
  const digest = createHash('sha256').update(image).digest('hex');
  await manager.upsert(ClientLogoEntity, { clientId, digest, mediaType, image }, ['clientId']);
  return digest;
}
