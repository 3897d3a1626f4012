import { Injectable } from '@nestjs/common';
import { isClientId } from '#oauth/client.js';
import { DataSource } from 'typeorm';
import type { Client } from './client.js';
import type { User } from '../user/user.js';

/** An earlier decision of the user on this client, from a grant that is still live. */
export interface EarlierDecision {
  /** What the client requested, and what of it the user allowed; both space-separated (RFC 6749 3.3). */
  readonly asked: string;
  readonly allowed: string;
  /** When the user last made this decision. */
  readonly at: Date;
}

/** Everything that the database knows about an authorization request. */
export interface AuthorizationContext {
  /** Null if it is unknown or deleted. */
  readonly client: Client | null;
  /** Null if nobody is logged in, or the user was deleted. */
  readonly user: User | null;
  /** Newest first, without duplicates. */
  readonly decisions: readonly EarlierDecision[];
  /** How many grants the user gave the client in the last 24 hours, including revoked ones. */
  readonly grantsOfDay: number;
}

interface Row {
  readonly client: (Omit<Client, 'createdAt'> & { readonly createdAt: string }) | null;
  readonly user: User | null;
  readonly decisions: readonly (Omit<EarlierDecision, 'at'> & { readonly at: string })[] | null;
  readonly grantsOfDay: number;
}

/** Bounds the query. Decisions beyond it are ignored, so the user is asked again. */
const DECISIONS = 100;

const QUERY = `
  SELECT
    (SELECT row_to_json(client) FROM (
       SELECT c.client_id AS "clientId", c.name, c.type, c.redirect_uris AS "redirectUris", c.scopes,
              c.optional_scopes AS "optionalScopes", c.require_par AS "requirePar",
              c.first_party AS "firstParty", l.digest AS logo, c.created_at AS "createdAt"
       FROM clients c LEFT JOIN client_logos l ON l.client_id = c.client_id
       WHERE c.client_id = $1 AND c.deleted_at IS NULL
     ) client) AS client,
    (SELECT row_to_json(account) FROM (
       SELECT id, username, email, name, avatar_url AS "avatarUrl", bio, time_format AS "timeFormat",
              default_schedule_id AS "defaultScheduleId", week_start AS "weekStart", time_zone AS "timeZone",
              organization_id AS "organizationId", locale, session_generation AS "sessionGeneration",
              disabled_at IS NOT NULL AS disabled
       FROM users WHERE id = $2
     ) account) AS "user",
    (SELECT json_agg(decision) FROM (
       SELECT g.asked_scope AS asked, g.scope AS allowed, max(g.created_at) AS at
       FROM grants g
       WHERE g.user_id = $2 AND g.client_id = $1 AND g.revoked_at IS NULL AND g.expires_at > now()
       GROUP BY g.asked_scope, g.scope
       ORDER BY at DESC LIMIT ${DECISIONS}
     ) decision) AS decisions,
    (SELECT count(*)::integer FROM grants g
     WHERE g.user_id = $2 AND g.client_id = $1 AND g.created_at > now() - interval '1 day') AS "grantsOfDay"`;

/** Reads client, user and earlier consent in one statement, without secrets. */
@Injectable()
export class AuthorizationContextStore {
  constructor(private readonly dataSource: DataSource) {}

  /** @param userId of the session; null if nobody is logged in */
  async find(clientId: string, userId: number | null): Promise<AuthorizationContext> {
    // RFC 6749 A.1: visible ASCII. Anything else cannot be registered, and some of it (NUL) PostgreSQL refuses.
    const known = isClientId(clientId) ? clientId : null;
    const [row] = await this.dataSource.query<Row[]>(QUERY, [known, userId]);
    if (!row) throw new Error('a SELECT of one row answered with none');
    const { client, user, grantsOfDay } = row;
    return {
      client: client && { ...client, createdAt: new Date(client.createdAt) },
      user,
      decisions: client ? (row.decisions ?? []).map(({ at, ...of }) => ({ ...of, at: new Date(at) })) : [],
      grantsOfDay,
    };
  }
}
