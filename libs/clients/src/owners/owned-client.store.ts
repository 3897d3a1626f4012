import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ClientEntity } from '../client.entity.js';
import type { ClientSecretRecord, ClientWithSecrets } from '../client.js';
import { toClient } from '../client.store.js';
import { ClientHistoryEntity, ClientOwnerEntity } from './client-owner.entity.js';

/** Own application, with its live secrets, oldest first. */
export type OwnedClient = Omit<ClientWithSecrets, 'secrets'> & {
  readonly secrets: readonly ClientSecretRecord[];
};

export interface OwnedSummary {
  readonly clientId: string;
  readonly name: string;
  readonly stage: ClientEntity['stage'];
  readonly disabledAt: Date | null;
  readonly createdAt: Date;
  /** Hexadecimal SHA-256 of the image. */
  readonly logo: string | null;
  /** Status of the undecided request, if any. */
  readonly request: 'submitted' | 'question' | null;
}

export const HISTORY_PAGE = 100;

/** Limits the time to count the users of an application. */
export const MAX_COUNTED_GRANTS = 10_000;

/** Reads the applications of an owner, without the keys of pairwise subjects. */
@Injectable()
export class OwnedClientStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns the owner's applications, newest first. */
  list(owner: number): Promise<OwnedSummary[]> {
    return this.dataSource.query<OwnedSummary[]>(
      `SELECT c.client_id AS "clientId", c.name, c.stage, c.disabled_at AS "disabledAt", c.created_at AS "createdAt",
         l.digest AS logo, r.status AS request
       FROM client_owners o JOIN clients c USING (client_id)
         LEFT JOIN client_logos l USING (client_id)
         LEFT JOIN client_requests r ON r.client_id = c.client_id AND r.status IN ('submitted', 'question')
       WHERE o.user_id = $1 AND c.deleted_at IS NULL ORDER BY c.created_at DESC, c.client_id`,
      [owner],
    );
  }

  /** @returns null if the client is unknown or deleted, or the user does not own it */
  async find(clientId: string, owner: number): Promise<OwnedClient | null> {
    if (!(await this.owns(clientId, owner))) return null;
    const client = await this.dataSource
      .getRepository(ClientEntity)
      .createQueryBuilder('client')
      .leftJoinAndSelect('client.secrets', 'secret', 'secret.revokedAt IS NULL')
      .leftJoinAndSelect('client.logo', 'logo')
      .where({ clientId })
      .orderBy('secret.createdAt', 'ASC')
      .getOne();
    return client && { ...toClient(client), secrets: client.secrets ?? [] };
  }

  owns(clientId: string, owner: number): Promise<boolean> {
    return this.dataSource.getRepository(ClientOwnerEntity).existsBy({ clientId, userId: owner });
  }

  /** Returns changes, newest first. @param before id of the oldest change of the previous page */
  history(clientId: string, before?: string): Promise<ClientHistoryEntity[]> {
    const query = this.dataSource
      .getRepository(ClientHistoryEntity)
      .createQueryBuilder('change')
      .where('change.clientId = :clientId', { clientId })
      .orderBy('change.id', 'DESC')
      .limit(HISTORY_PAGE);
    if (before !== undefined) query.andWhere('change.id < :before', { before });
    return query.getMany();
  }

  /**
   * Counts the users with live grants, of at most `MAX_COUNTED_GRANTS` grants; null if the user of the transaction does
   * not own the client.
   */
  async countUsers(clientId: string): Promise<number | null> {
    const [row] = await this.dataSource.query<{ users: number | null }[]>(
      'SELECT count_client_grants($1, $2) AS users',
      [clientId, MAX_COUNTED_GRANTS],
    );
    return row?.users ?? null;
  }
}
