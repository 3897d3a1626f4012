import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type ClientType, isClientId } from '#oauth/client.js';
import { SCOPES, scopeTokens } from '#oauth/scope.js';

/** An application that a user has connected: all live grants of one client together. */
export interface ConnectedApp {
  readonly clientId: string;
  readonly name: string;
  /** Digest of its image; null if it has none. */
  readonly logo: string | null;
  readonly firstParty: boolean;
  readonly clientType: ClientType;
  /** The union of the grants' scopes, in the order in which the consent page lists them. */
  readonly scopes: readonly string[];
  /** When the oldest grant was created. */
  readonly since: Date;
  /** UTC day of the last use of any grant, YYYY-MM-DD; null if none was used. */
  readonly lastUsedOn: string | null;
  readonly grants: number;
}

/** Bounds a list: more applications than any user connects. */
const AT_MOST = 200;

type Row = Omit<ConnectedApp, 'scopes'> & { readonly scope: string };

/** The order of the consent page. */
const ORDER = [...SCOPES.keys()];
const asOnConsent = (one: string, other: string): number => ORDER.indexOf(one) - ORDER.indexOf(other);

/** The applications that a user has connected. */
@Injectable()
export class ConnectedAppStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Lists them by name, at most 200, in one query. */
  list(userId: number): Promise<ConnectedApp[]> {
    return this.connected(userId, null);
  }

  /** Finds one, in one query; null if the user has no live grant to this client. */
  async find(userId: number, clientId: string): Promise<ConnectedApp | null> {
    // As in ClientStore.find: PostgreSQL refuses a NUL.
    if (!isClientId(clientId)) return null;
    const [found = null] = await this.connected(userId, clientId);
    return found;
  }

  private async connected(userId: number, clientId: string | null): Promise<ConnectedApp[]> {
    const rows = await this.dataSource.query<Row[]>(
      `SELECT c.client_id AS "clientId", c.name, l.digest AS logo, c.first_party AS "firstParty",
              c.type AS "clientType", string_agg(DISTINCT g.scope, ' ') AS scope, min(g.created_at) AS since,
              max(g.last_used_on)::text AS "lastUsedOn", count(*)::integer AS grants
       FROM grants g
         JOIN clients c ON c.client_id = g.client_id AND c.deleted_at IS NULL
         LEFT JOIN client_logos l ON l.client_id = c.client_id
       WHERE g.user_id = $1 AND g.revoked_at IS NULL AND g.expires_at > now()
         AND ($2::text IS NULL OR g.client_id = $2)
       GROUP BY c.client_id, l.client_id
       ORDER BY lower(c.name), c.client_id
       LIMIT ${AT_MOST}`,
      [userId, clientId],
    );
    return rows.map(({ scope, ...app }) => ({ ...app, scopes: scopeTokens(scope).toSorted(asOnConsent) }));
  }
}
