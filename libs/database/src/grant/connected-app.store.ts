import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type ClientType, isClientId } from '#oauth/client.js';
import { scopeTokens } from '#oauth/scope.js';
import { decisions, liveOfDecision } from './decision.statements.js';

/** An application that a user has connected: all live grants of one client together. */
export interface ConnectedApp {
  readonly clientId: string;
  readonly name: string;
  /** Digest of its image; null if it has none. */
  readonly logo: string | null;
  readonly firstParty: boolean;
  readonly clientType: ClientType;
  /** Whether the operator has disabled it: none of its tokens works at present. */
  readonly isDisabled: boolean;
  /** The union of the grants' scopes, in no order. */
  readonly scopes: readonly string[];
  /** When the oldest grant was created. */
  readonly since: Date;
  /**
   * UTC day of the last use, YYYY-MM-DD; null if none was used. For a user with many grants, the last use of the newest 100
   * with each scope.
   */
  readonly lastUsedOn: string | null;
}

/** Bounds a list: more applications than any user connects. */
const AT_MOST = 200;
/** Grants that are read one by one; more than most users have. */
const FEW = 250;
/** Bounds the search for the last use of a user with more, for each scope that the user allowed. */
const NEWEST = 100;

type Row = Omit<ConnectedApp, 'scopes'> & { readonly scope: string };
/** `more`: whether there are more grants than were read. */
type FewRow = { readonly more: boolean } & (Row | { readonly clientId: null });

const FIELDS = `c.client_id AS "clientId", c.name, l.digest AS logo, c.first_party AS "firstParty", c.type AS "clientType",
  c.disabled_at IS NOT NULL AS "isDisabled"`;
const BY_CLIENT = `
  GROUP BY c.client_id, l.client_id
  ORDER BY lower(c.name), c.client_id
  LIMIT ${AT_MOST}`;

/**
 * One row with `more` and no client if none is connected. The order is that of an index: without one, PostgreSQL might look for
 * the first grants of a user who has many in the whole table.
 *
 * @param whose SQL condition
 */
const connectedApps = (whose: string): string => `
  WITH own AS MATERIALIZED (
    SELECT client_id, scope, created_at, last_used_on, revoked_at, expires_at FROM grants
    WHERE ${whose} ORDER BY client_id, asked_scope LIMIT ${FEW + 1}
  )
  SELECT bound.more, app.* FROM (SELECT count(*) > ${FEW} AS more FROM own) bound LEFT JOIN (
    SELECT ${FIELDS}, string_agg(DISTINCT g.scope, ' ') AS scope, min(g.created_at) AS since,
           max(g.last_used_on)::text AS "lastUsedOn"
    FROM own g
      JOIN clients c ON c.client_id = g.client_id AND c.deleted_at IS NULL
      LEFT JOIN client_logos l ON l.client_id = c.client_id
    WHERE g.revoked_at IS NULL AND g.expires_at > now()
    ${BY_CLIENT}
  ) app ON true
  ORDER BY lower(app.name), app."clientId"`;
const ALL = connectedApps('user_id = $1');
const ONE = connectedApps('user_id = $1 AND client_id = $2');

/** The same of a user with more grants. @param clientId SQL expression; null for every client */
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
        ORDER BY g.created_at DESC LIMIT ${NEWEST}
      ) used
    ) newest
  ${BY_CLIENT}`;
const ALL_OF_MANY = connectedAppsOfMany(null);
const ONE_OF_MANY = connectedAppsOfMany('$2');

/** The applications that a user has connected. */
@Injectable()
export class ConnectedAppStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Lists them by name, at most 200, in one query, or two for a user with many grants. */
  list(userId: number): Promise<ConnectedApp[]> {
    return this.connected([userId], ALL, ALL_OF_MANY);
  }

  /** Finds one, in as many queries; null if the user has no live grant to this client. */
  async find(userId: number, clientId: string): Promise<ConnectedApp | null> {
    // As in ClientStore.find: PostgreSQL refuses a NUL.
    if (!isClientId(clientId)) return null;
    const [found = null] = await this.connected([userId, clientId], ONE, ONE_OF_MANY);
    return found;
  }

  private async connected(whose: readonly unknown[], few: string, many: string): Promise<ConnectedApp[]> {
    const found = await this.dataSource.query<FewRow[]>(few, [...whose]);
    const rows = found[0]?.more
      ? await this.dataSource.query<Row[]>(many, [...whose])
      : found.flatMap(({ more: _more, ...row }) => (row.clientId === null ? [] : [row]));
    return rows.map(({ scope, ...app }) => ({ ...app, scopes: scopeTokens(scope) }));
  }
}
