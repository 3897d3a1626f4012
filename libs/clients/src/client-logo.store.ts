import { Injectable } from '@nestjs/common';
import { DataSource, type Repository } from 'typeorm';
import { ClientLogoEntity } from './client.entity.js';
import { type ClientLogo, isLogoDigest } from './client.js';
import { lockClient, writeClientLogo } from './client.statements.js';

/** Identifies logos by the digest of the image, so that clients with the same image share a URL. */
@Injectable()
export class ClientLogoStore {
  private readonly logos: Repository<ClientLogoEntity>;

  constructor(private readonly dataSource: DataSource) {
    this.logos = dataSource.getRepository(ClientLogoEntity);
  }

  /** @param digests hexadecimal SHA-256 of the images; malformed ones are ignored */
  async find(digests: readonly string[]): Promise<Map<string, ClientLogo>> {
    const possible = digests.filter(isLogoDigest);
    if (possible.length === 0) return new Map();
    const logos = await this.logos
      .createQueryBuilder('logo')
      .addSelect('logo.image')
      .distinctOn(['logo.digest'])
      .where('logo.digest = ANY(:possible)', { possible })
      .getMany();
    return new Map(logos.map(({ digest, mediaType, image }) => [digest, { mediaType, image }]));
  }

  /** Sets or replaces a logo. @returns the digest */
  async set(clientId: string, logo: ClientLogo): Promise<string> {
    return this.dataSource.transaction(async (manager) => {
      await lockClient(manager, clientId);
      return writeClientLogo(manager, clientId, logo);
    });
  }

  async remove(clientId: string): Promise<boolean> {
    const { affected } = await this.logos.delete({ clientId });
    return affected === 1;
  }
}
