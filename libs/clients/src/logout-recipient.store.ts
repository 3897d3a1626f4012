import { Injectable } from '@nestjs/common';
import { DataSource, LessThanOrEqual, MoreThan } from 'typeorm';
import { GrantRecordEntity } from '#grants/records/grant-record.entity.js';
import { ClientEntity } from './client.entity.js';

/** A client that receives a logout token when a session ends (section 2.3 of Back-Channel Logout 1.0). */
export interface LogoutRecipient {
  readonly clientId: string;
  readonly userId: number;
}

const INFORMED = 'client.backchannelLogoutUri IS NOT NULL AND client.disabledAt IS NULL';
/**
 * SQL condition: the grant provides ID tokens. Includes ended grants, because clients may keep their ID tokens, but not
 * grants whose code expired without a redemption.
 */
const HAS_ID_TOKEN = `grant.session IS NOT NULL AND 'openid' = ANY (string_to_array(grant.scope, ' '))
  AND (grant.lastUsedOn IS NOT NULL OR grant.expiresAt > grant.createdAt)`;

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

  /**
   * Finds grants with `openid` created after `since`: grants of an ended session, or of all of a user's sessions, which
   * ended at `at`. The codes of these grants may not be redeemed yet.
   * @param skew seconds that cover the difference between clocks and the duration of a request
   */
  recentGrants(
    ended: { readonly session: string } | { readonly userId: number; readonly at: Date },
    since: Date,
    skew: number,
  ): Promise<Pick<GrantRecordEntity, 'id' | 'clientId'>[]> {
    const query = this.dataSource
      .createQueryBuilder(GrantRecordEntity, 'grant')
      .select(['grant.id', 'grant.clientId'])
      .where({ createdAt: MoreThan(since) })
      .andWhere(HAS_ID_TOKEN);
    if ('session' in ended) return query.andWhere({ session: ended.session }).getMany();
    // A grant created after `at` belongs to a new session, unless the grant's login was before `at`.
    const { userId, at } = ended;
    const second = Math.floor(at.getTime() / 1000);
    return query
      .andWhere({ userId, createdAt: LessThanOrEqual(new Date(at.getTime() + skew * 1000)) })
      .andWhere('(grant.createdAt <= :at OR coalesce(grant.authTime, 0) < :second)', { at, second })
      .getMany();
  }

  /** Also finds the clients of a deleted user, because the grants are still recorded. */
  async ofUser(userId: number): Promise<LogoutRecipient[]> {
    const grants = this.dataSource
      .createQueryBuilder(GrantRecordEntity, 'grant')
      .where('grant.userId = :userId AND grant.clientId = client.clientId', { userId })
      .andWhere(HAS_ID_TOKEN);
    const clients = await this.dataSource
      .createQueryBuilder(ClientEntity, 'client')
      .select('client.clientId')
      .where(INFORMED)
      .andWhereExists(grants)
      .getMany();
    return clients.map(({ clientId }) => ({ clientId, userId }));
  }
}
