import { Injectable } from '@nestjs/common';
import { Any, DataSource, IsNull, type Repository, type SelectQueryBuilder } from 'typeorm';
import { checkVersion } from '#platform/validation/administration.error.js';
import type { ListPage, PageRequest } from '#platform/postgres/list-page.js';
import { inOrder, selectPage } from '#platform/postgres/list-page.statements.js';
import { GrantRecordEntity } from './grant-record.entity.js';
import { type GrantFilter, LIVE, ownedBy, revokeOwned, revokeSome } from './grant-record.statements.js';

export type { GrantFilter };

export interface AdministeredGrant {
  readonly id: string;
  readonly userId: number;
  /** Null if the user was deleted. */
  readonly username: string | null;
  readonly clientId: string;
  readonly clientName: string;
  readonly scope: string;
  readonly createdAt: Date;
  readonly lastUsedOn: string | null;
  readonly expiresAt: Date;
  readonly revokedAt: Date | null;
  /** Increases with each change: a later day of use, or the revocation. */
  readonly version: number;
}

export interface GrantListFilter extends GrantFilter {
  /** True to include revoked and expired grants. */
  readonly ended: boolean;
}

@Injectable()
export class GrantAdministrationStore {
  private readonly grants: Repository<GrantRecordEntity>;

  constructor(private readonly dataSource: DataSource) {
    this.grants = dataSource.getRepository(GrantRecordEntity);
  }

  async list(filter: GrantListFilter, request: PageRequest): Promise<ListPage<AdministeredGrant>> {
    const page = await selectPage(this.matching(filter), 'id', request);
    const grants = await this.withNames()
      .where({ id: Any(page.items) })
      .getMany();
    return { ...page, items: inOrder(page.items, grants.map(toAdministered), ({ id }) => id) };
  }

  /** Also finds revoked and expired grants. */
  async find(id: string): Promise<AdministeredGrant | null> {
    const grant = await this.withNames().where({ id }).getOne();
    return grant && toAdministered(grant);
  }

  /** Filters `ids` by client. Includes revoked and expired grants. */
  async ofClient(clientId: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const grants = await this.grants.find({ select: { id: true }, where: { clientId, id: Any(ids) } });
    return new Set(grants.map(({ id }) => id));
  }

  countLiveOf(
    owners: { readonly userIds: readonly number[] } | { readonly clientIds: readonly string[] },
  ): Promise<number> {
    const owned = 'userIds' in owners ? { userId: Any(owners.userIds) } : { clientId: Any(owners.clientIds) };
    return this.grants.createQueryBuilder('grant').where(owned).andWhere(LIVE).getCount();
  }

  countLive(owner: GrantFilter): Promise<number> {
    return this.matching({ ...owner, ended: false }).getCount();
  }

  /** Sorts the grants of the application by user: call it only for an application with few grants. */
  async countUsers(clientId: string): Promise<number> {
    const [row] = await this.matching({ clientId, ended: false })
      .select('count(DISTINCT grant.userId)::integer', 'users')
      .getRawMany<{ users: number }>();
    return row?.users ?? 0;
  }

  /** Returns the ids of clients with live grants. */
  async liveClients(): Promise<string[]> {
    const rows = await this.matching({ ended: false })
      .select('grant.clientId', 'clientId')
      .groupBy('grant.clientId')
      .getRawMany<{ clientId: string }>();
    return rows.map(({ clientId }) => clientId);
  }

  /** @returns false if the grant is unknown or already revoked */
  revokeOne(id: string, expectedVersion?: number): Promise<boolean> {
    return this.dataSource.transaction(async (manager) => {
      const lock = { mode: 'for_no_key_update' } as const;
      const grant = await manager.findOne(GrantRecordEntity, { where: { id }, lock });
      if (grant) checkVersion({ version: versionOf(grant) }, expectedVersion, 'grant');
      const { affected } = await manager.update(
        GrantRecordEntity,
        { id, revokedAt: IsNull() },
        { revokedAt: () => 'now()', revokedFor: 'operator' },
      );
      return affected === 1;
    });
  }

  /** Like `revokeOwned`. @param onBatch called with the number of grants that each batch revoked */
  revoke(owner: GrantFilter, onBatch: (revoked: number) => void): Promise<void> {
    return revokeOwned(this.dataSource, owner, onBatch);
  }

  /** Revokes one batch of the selected grants. @returns `more`: true if another call may find further grants */
  revokeSome(owner: GrantFilter): Promise<{ readonly revoked: number; readonly more: boolean }> {
    return revokeSome(this.dataSource, owner);
  }

  private matching({ ended, ...owner }: GrantListFilter): SelectQueryBuilder<GrantRecordEntity> {
    const query = this.grants.createQueryBuilder('grant').where(ownedBy(owner));
    return ended ? query : query.andWhere(LIVE);
  }

  /** Includes grants of deleted clients and users. */
  private withNames(): SelectQueryBuilder<GrantRecordEntity> {
    return this.grants
      .createQueryBuilder('grant')
      .withDeleted()
      .innerJoin('grant.client', 'client')
      .leftJoin('grant.user', 'user')
      .addSelect(['client.clientId', 'client.name', 'user.id', 'user.username']);
  }
}

function toAdministered({ user, client, ...grant }: GrantRecordEntity): AdministeredGrant {
  return {
    ...grant,
    username: user?.username ?? null,
    clientName: client.name,
    version: versionOf(grant),
  };
}

/** Derives the version from the fields that change, so that no statement needs to increment a column. */
function versionOf({ lastUsedOn, revokedAt }: Pick<GrantRecordEntity, 'lastUsedOn' | 'revokedAt'>): number {
  const day = lastUsedOn === null ? 0 : Date.parse(lastUsedOn) / 86_400_000;
  return 1 + 2 * day + (revokedAt ? 1 : 0);
}
