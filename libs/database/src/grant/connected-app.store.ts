import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type ClientType, isClientId } from '#oauth/client.js';
import { scopeTokens } from '#oauth/scope.js';
import { decisions, liveOfDecision } from './decision.statements.js';

/** Summary of a user's live grants to one client. */
export interface ConnectedApp {
  readonly clientId: string;
  readonly name: string;
  /** Digest of the logo; null without one. */
  readonly logo: string | null;
  readonly firstParty: boolean;
  readonly clientType: ClientType;
  /** Disabled by the operator: its tokens are rejected for now. */
  readonly isDisabled: boolean;
  /** Union of the grants' scopes, unordered. */
  readonly scopes: readonly string[];
  /** Creation time of the oldest grant. */
  readonly since: Date;
  /** UTC date, YYYY-MM-DD; null if unused. For a user with many grants, considers the newest 100 of each decision. */
  readonly lastUsedOn: string | null;
}

/** More than any user connects. */
const MAX_APPS = 200;
/** Above this number of grants, the second query runs. */
const SINGLE_QUERY_LIMIT = 250;
/** Grants per decision that are searched for the last use. */
const LAST_USE_LIMIT = 100;

type Row = Omit<ConnectedApp, 'scopes'> & { readonly scope: string };
/** `more`: the limit was exceeded. */
type LimitedRow = { readonly more: boolean } & (Row | { readonly clientId: null });

const FIELDS = `c.client_id AS "clientId", c.name, l.digest AS logo, c.first_party AS "firstParty", c.type AS "clientType",
  c.disabled_at IS NOT NULL AS "isDisabled"`;
const BY_CLIENT = `
  GROUP BY c.client_id, l.client_id
  ORDER BY lower(c.name), c.client_id
  LIMIT ${MAX_APPS}`;

/**
 * Returns one row with `more` and no client if nothing is connected. Ordered as an index: otherwise PostgreSQL might scan the
 * whole table for the first grants of a user who has many.
 * @param whose SQL condition
 */
const connectedApps = (whose: string): string => `
  WITH own AS MATERIALIZED (
    SELECT client_id, scope, created_at, last_used_on, revoked_at, expires_at FROM grants
    WHERE ${whose} ORDER BY client_id, requested_scope LIMIT ${SINGLE_QUERY_LIMIT + 1}
  )
  SELECT bound.more, app.* FROM (SELECT count(*) > ${SINGLE_QUERY_LIMIT} AS more FROM own) bound LEFT JOIN (
    SELECT ${FIELDS}, string_agg(DISTINCT g.scope, ' ') AS scope, min(g.created_at) AS since,
           max(g.last_used_on)::text AS "lastUsedOn"
    FROM own g
      JOIN clients c ON c.client_id = g.client_id AND c.deleted_at IS NULL
      LEFT JOIN client_logos l ON l.client_id = c.client_id
    WHERE g.revoked_at IS NULL AND g.expires_at > now()
    ${BY_CLIENT}
  ) app ON true
  ORDER BY lower(app.name), app."clientId"`;
const LIST = connectedApps('user_id = $1');
const FIND = connectedApps('user_id = $1 AND client_id = $2');

/** @param clientId SQL expression; null for every client */
const connectedAppsOfMany = (clientId: string | null): string => `
  WITH RECURSIVE ${decisions('$1', clientId)}
  SELECT ${FIELDS}, string_agg(DISTINCT decision.scope, ' ') AS scope, min(oldest.created_at) AS since,
         max(newest.last_used_on)::text AS "lastUsedOn"
  FROM decision
    JOIN clients c ON c.client_id = decision.client_id AND c.deleted_at IS NULL
    LEFT JOIN client_logos l ON l.client_id = c.client_id
    CROSS JOIN LATERAL (
      SELECT g.created_at FROM grants g WHERE ${liveOfDecision('$1')} ORDER BY g.created_at LIMIT 1
    ) oldest
    CROSS JOIN LATERAL (
      SELECT max(used.last_used_on) AS last_used_on FROM (
        SELECT g.last_used_on FROM grants g WHERE ${liveOfDecision('$1')}
        ORDER BY g.created_at DESC LIMIT ${LAST_USE_LIMIT}
      ) used
    ) newest
  ${BY_CLIENT}`;
const LIST_OF_MANY = connectedAppsOfMany(null);
const FIND_OF_MANY = connectedAppsOfMany('$2');

@Injectable()
export class ConnectedAppStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Lists at most 200 applications by name, in one query, or two for a user with many grants. */
  list(userId: number): Promise<ConnectedApp[]> {
    return this.connected([userId], LIST, LIST_OF_MANY);
  }

  /** @returns null if the user has no live grant to this client */
  async find(userId: number, clientId: string): Promise<ConnectedApp | null> {
    // PostgreSQL rejects NUL.
    if (!isClientId(clientId)) return null;
    const [found = null] = await this.connected([userId, clientId], FIND, FIND_OF_MANY);
    return found;
  }

  private async connected(whose: readonly unknown[], few: string, many: string): Promise<ConnectedApp[]> {
    const found = await this.dataSource.query<LimitedRow[]>(few, [...whose]);
    const rows = found[0]?.more
      ? await this.dataSource.query<Row[]>(many, [...whose])
      : found.flatMap(({ more: _more, ...row }) => (row.clientId === null ? [] : [row]));
    return rows.map(({ scope, ...app }) => ({ ...app, scopes: scopeTokens(scope) }));
  }
}
