import { Injectable } from '@nestjs/common';
import { Between, DataSource } from 'typeorm';
import { GrantRecordEntity } from '../grant/grant-record.entity.js';
import { ClientEntity } from './client.entity.js';

/** A client that learns of the end of a session (Back-Channel Logout 1.0 2.3). */
export interface LogoutRecipient {
  readonly clientId: string;
  readonly userId: number;
}

/** The client has an address. */
const INFORMED = 'client.backchannelLogoutUri IS NOT NULL AND client.disabledAt IS NULL';
/** The client has an ID token of the session. A grant also counts after its end, because the ID token remains. */
const HAS_ID_TOKEN = `grant.session IS NOT NULL AND 'openid' = ANY (string_to_array(grant.scope, ' '))`;

@Injectable()
export class LogoutRecipientStore {
  constructor(private readonly dataSource: DataSource) {}

  ofSession(session: string): Promise<LogoutRecipient[]> {
    return this.dataSource
      .createQueryBuilder(GrantRecordEntity, 'grant')
      .innerJoin('grant.client', 'client', INFORMED)
      .select('grant.clientId', 'clientId')
      .addSelect('grant.userId', 'userId')
      .distinct()
      .where({ session })
      .andWhere(HAS_ID_TOKEN)
      .getRawMany();
  }

  /** Finds grants with the scope `openid` that a session or user created in a period, and whose codes may still be unredeemed. */
  recentGrants(
    ended: { readonly session: string } | { readonly userId: number },
    since: Date,
    until: Date,
  ): Promise<Pick<GrantRecordEntity, 'id' | 'clientId'>[]> {
    return this.dataSource
      .createQueryBuilder(GrantRecordEntity, 'grant')
      .select(['grant.id', 'grant.clientId'])
      .where({ ...ended, createdAt: Between(since, until) })
      .andWhere(HAS_ID_TOKEN)
      .getMany();
  }

  /** Also finds the clients of a deleted user: the grants are still recorded. */
  async ofUser(userId: number): Promise<LogoutRecipient[]> {
    const grants = this.dataSource
      .createQueryBuilder(GrantRecordEntity, 'grant')
      .where('grant.userId = :userId AND grant.clientId = client.clientId', { userId })
      .andWhere(HAS_ID_TOKEN);
    const found = await this.dataSource
      .createQueryBuilder(ClientEntity, 'client')
      .select('client.clientId')
      .where(INFORMED)
      .andWhereExists(grants)
      .getMany();
    return found.map(({ clientId }) => ({ clientId, userId }));
  }
}
