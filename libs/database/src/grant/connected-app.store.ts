import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type ClientType, isClientId } from '#oauth/client.js';
import { SCOPES, scopeTokens } from '#oauth/scope.js';

/** An application that a user has connected: all live grants of one client together. */
export interface ConnectedApp {
  readonly clientId: string;
  readonly name: string;
  /** Digest of its image; null when it has none. */
  readonly logo: string | null;
  readonly firstParty: boolean;
  readonly clientType: ClientType;
  /** What any of the grants allows, in alphabetical order. */
  readonly scopes: readonly string[];
  /** When the oldest of the grants was allowed. */
  readonly since: Date;
  /** UTC day, YYYY-MM-DD; null when none was ever used. */
  readonly lastUsedOn: string | null;
  readonly grants: number;
}

/** Applications in a list: more than a user connects, few enough for one page. */
const AT_MOST = 200;

type Row = Omit<ConnectedApp, 'scopes'> & { readonly scope: string };

/** In the order in which the consent page names them. */
const ORDER = [...SCOPES.keys()];
const asOnConsent = (one: string, other: string): number => ORDER.indexOf(one) - ORDER.indexOf(other);

/** What a user has allowed and not revoked, client by client. */
@Injectable()
export class ConnectedAppStore {
  constructor(private readonly dataSource: DataSource) {}

  /** By one query, in the order of names; the first 200. */
  list(userId: number): Promise<ConnectedApp[]> {
    return this.connected(userId, null);
  }

  /** By one query; null when the user has no live grant of this client. */
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
