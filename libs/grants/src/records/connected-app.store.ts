import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type ClientType, isClientId, shownName } from '#oauth/oauth-client.js';
import { scopeTokens } from '#oauth/scope.js';

/** Summary of a user's live grants to one client. */
export interface ConnectedApp {
  readonly clientId: string;
  readonly name: string;
  readonly logo: string | null;
  readonly firstParty: boolean;
  readonly clientType: ClientType;
  readonly isDisabled: boolean;
  /** Union of the grants' scopes, unordered. */
  readonly scopes: readonly string[];
  /** Creation time of the oldest grant. */
  readonly since: Date;
  /** UTC date, YYYY-MM-DD; null if unused. */
  readonly lastUsedOn: string | null;
}

/** Limit that no user is expected to reach. */
const MAX_APPS = 200;

type Row = Omit<ConnectedApp, 'scopes'> & { readonly scope: string; readonly hasDocument: boolean };

/**
 * Uses the order of the index `grants_user_client`, because PostgreSQL might otherwise read the revoked grants as well.
 * @param condition SQL condition on grants
 */
const connectedApps = (condition: string): string => `
  SELECT c.client_id AS "clientId", c.name, c.document_due_at IS NOT NULL AS "hasDocument", l.digest AS logo, c.first_party AS "firstParty", c.type AS "clientType",
         c.disabled_at IS NOT NULL AS "isDisabled", own.scope, own.since, own."lastUsedOn"
  FROM (
    SELECT g.client_id, string_agg(DISTINCT g.scope, ' ') AS scope, min(g.created_at) AS since,
           max(g.last_used_on)::text AS "lastUsedOn"
    FROM (
      SELECT * FROM grants WHERE ${condition} AND revoked_at IS NULL AND expires_at > now() ORDER BY client_id, created_at
    ) g GROUP BY g.client_id
  ) own
    JOIN clients c ON c.client_id = own.client_id AND c.deleted_at IS NULL
    LEFT JOIN client_logos l ON l.client_id = c.client_id
  ORDER BY lower(c.name), c.client_id LIMIT ${MAX_APPS}`;
const LIST = connectedApps('user_id = $1');
const FIND = connectedApps('user_id = $1 AND client_id = $2');

@Injectable()
export class ConnectedAppStore {
  constructor(private readonly dataSource: DataSource) {}

  list(userId: number): Promise<ConnectedApp[]> {
    return this.connected(LIST, [userId]);
  }

  async find(userId: number, clientId: string): Promise<ConnectedApp | null> {
    // PostgreSQL rejects NUL.
    if (!isClientId(clientId)) return null;
    const [app = null] = await this.connected(FIND, [userId, clientId]);
    return app;
  }

  private async connected(query: string, values: unknown[]): Promise<ConnectedApp[]> {
    const rows = await this.dataSource.query<Row[]>(query, values);
    return rows.map(({ scope, hasDocument, ...app }) => ({
      ...app,
      name: shownName(app.clientId, app.name, hasDocument),
      scopes: scopeTokens(scope),
    }));
  }
}
