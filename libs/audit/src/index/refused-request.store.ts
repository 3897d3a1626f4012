import { Injectable } from '@nestjs/common';
import { Any, DataSource, type EntityManager } from 'typeorm';
import type { ListPage, PageRequest } from '#platform/postgres/list-page.js';
import { inOrder, selectPage } from '#platform/postgres/list-page.statements.js';
import { RefusedRequestEntity } from './audit-index.entity.js';

export type RefusedRequest = Readonly<RefusedRequestEntity>;

/** Without a client, the request belongs to the grant's client. The values must be texts that PostgreSQL accepts. */
export interface NewRefusedRequest {
  readonly clientId: string | null;
  readonly grantId: string | null;
  readonly event: string;
  readonly at: Date;
  readonly reference: string | null;
  readonly cause: string;
  readonly error: string;
  readonly status: number | null;
  readonly request: string | null;
  readonly description: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface RefusedRequestFilter {
  readonly cause?: string | undefined;
  readonly reference?: string | undefined;
  readonly since: Date;
  readonly until?: Date | undefined;
}

/** Days for which owners can read a refused request. */
export const REFUSED_DAYS = 30;

/** Stored requests of an application and hour, because anyone can cause refusals with a `client_id`. */
const MAX_PER_HOUR = 1_000;

/** Keeps each statement far within the statement timeout. */
const MAX_PER_STATEMENT = 1_000;

/** Refused requests that the owners of an application may read. */
@Injectable()
export class RefusedRequestStore {
  constructor(private readonly dataSource: DataSource) {}

  async list(
    clientId: string,
    { cause, reference, since, until }: RefusedRequestFilter,
    request: PageRequest,
  ): Promise<ListPage<RefusedRequest>> {
    const requests = this.dataSource.getRepository(RefusedRequestEntity);
    const query = requests
      .createQueryBuilder('refused')
      .where('refused.clientId = :clientId AND refused.createdAt >= :since', { clientId, since });
    if (cause !== undefined) query.andWhere('refused.cause = :cause', { cause });
    if (reference !== undefined) query.andWhere('refused.reference = :reference', { reference });
    if (until !== undefined) query.andWhere('refused.createdAt < :until', { until });
    const page = await selectPage(query, 'id', request);
    const found = await requests.findBy({ id: Any(page.items) });
    return { ...page, items: inOrder(page.items, found, ({ id }) => id) };
  }

  find(clientId: string, id: string): Promise<RefusedRequest | null> {
    return this.dataSource.getRepository(RefusedRequestEntity).findOneBy({ clientId, id });
  }
}

/** Stores the requests of registered clients. Ignores known events. */
export async function addRefused(
  manager: EntityManager,
  refused: readonly NewRefusedRequest[],
): Promise<void> {
  for (let first = 0; first < refused.length; first += MAX_PER_STATEMENT)
    await manager.query(ADD, [JSON.stringify(refused.slice(first, first + MAX_PER_STATEMENT))]);
}

const ADD = `WITH sent AS (
    SELECT c.client_id, s.*, date_trunc('hour', s.at, 'UTC') AS hour,
           row_number() OVER (PARTITION BY c.client_id, date_trunc('hour', s.at, 'UTC') ORDER BY s.at) AS place
    FROM json_to_recordset($1::json) AS s ("clientId" text, "grantId" text, event text, at timestamptz, reference text,
           cause text, error text, status integer, request text, description text, detail jsonb)
      LEFT JOIN grants g ON s."clientId" IS NULL AND g.id = s."grantId"
      JOIN clients c ON c.client_id = coalesce(s."clientId", g.client_id)
    -- NOT EXISTS would become a join, for which PostgreSQL may read all requests of a client.
    WHERE (SELECT r.id FROM refused_requests r WHERE r.client_id = c.client_id AND r.event = s.event) IS NULL
  ), numbered AS (
    -- Counts the stored requests of each hour once. A join would compare each request with each hour.
    SELECT *, place + max(CASE place WHEN 1 THEN (
        SELECT count(*) FROM refused_requests r
        WHERE r.client_id = sent.client_id AND r.at >= sent.hour AND r.at < sent.hour + interval '1 hour') END)
      OVER (PARTITION BY client_id, hour) AS number
    FROM sent
  )
  INSERT INTO refused_requests (client_id, event, at, reference, cause, error, status, request, description, detail)
  SELECT client_id, event, at, reference, cause, error, status, request, description, detail
  FROM numbered WHERE number <= ${MAX_PER_HOUR}
  ORDER BY at ON CONFLICT DO NOTHING`;
