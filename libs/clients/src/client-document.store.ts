import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { DescribedClient } from './documents/metadata-document.js';
import { ClientEntity } from './client.entity.js';
import { skeletonOf } from './name-skeleton.js';
import { lockExisting } from './client.statements.js';

export interface DocumentHost {
  /** Ids of deleted clients are never reused. */
  readonly client: 'registered' | 'deleted' | null;
  readonly clients: number;
}

/** Uses SQL if the registration does not change, because TypeORM's `update` would increase the client's version. */
@Injectable()
export class ClientDocumentStore {
  constructor(private readonly dataSource: DataSource) {}

  async host(clientId: string, prefix: string): Promise<DocumentHost> {
    const [host] = await this.dataSource.query<DocumentHost[]>(
      `SELECT (SELECT CASE WHEN deleted_at IS NULL THEN 'registered' ELSE 'deleted' END
               FROM clients WHERE client_id = $1) AS client,
              (SELECT count(*)::integer FROM clients
               WHERE document_due_at IS NOT NULL AND deleted_at IS NULL AND starts_with(client_id, $2)) AS clients`,
      [clientId, prefix],
    );
    if (!host) throw new Error('the query returned no row');
    return host;
  }

  /**
   * Claims a due fetch, so that only one process fetches the document.
   * @param retryAt time of the next fetch if the claimed fetch fails
   * @returns false if no fetch is due
   */
  async claim(clientId: string, now: Date, retryAt: Date): Promise<boolean> {
    const claimed = await this.dataSource.query<[unknown[], number]>(
      `UPDATE clients SET document_due_at = $3
       WHERE client_id = $1 AND document_due_at <= $2 AND disabled_at IS NULL AND deleted_at IS NULL`,
      [clientId, now, retryAt],
    );
    return claimed[1] === 1;
  }

  async fail(clientId: string, problem: string): Promise<void> {
    await this.dataSource.query('UPDATE clients SET document_problem = $2 WHERE client_id = $1', [
      clientId,
      problem,
    ]);
  }

  /** @returns the description before the change; null if nothing changed, or the client is unknown or deleted */
  async save(
    clientId: string,
    described: DescribedClient,
    { dueAt, leftOut }: { readonly dueAt: Date; readonly leftOut: string | null },
    needsConsent: (before: DescribedClient, after: DescribedClient) => boolean,
  ): Promise<DescribedClient | null> {
    return this.dataSource.transaction(async (manager) => {
      const before = await lockExisting(manager, clientId);
      if (!before) return null;
      const fields = Object.keys(described) as (keyof DescribedClient)[];
      const isSame = fields.every(
        (field) => JSON.stringify(before[field]) === JSON.stringify(described[field]),
      );
      await manager.query(
        'UPDATE clients SET document_due_at = $2, document_problem = $3 WHERE client_id = $1',
        [clientId, dueAt, leftOut],
      );
      if (isSame) return null;
      const documentChangedAt = needsConsent(before, described)
        ? { documentChangedAt: () => 'clock_timestamp()' }
        : {};
      await manager.update(
        ClientEntity,
        { clientId },
        {
          ...described,
          nameSkeleton: skeletonOf(described.name),
          ...documentChangedAt,
        },
      );
      return before;
    });
  }
}
