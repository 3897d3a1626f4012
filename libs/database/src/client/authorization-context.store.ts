import { Injectable } from '@nestjs/common';
import { isClientId } from '#oauth/client.js';
import { DataSource } from 'typeorm';
import { decisions as everyDecision, liveOfDecision, ofDecision } from '../grant/decision.statements.js';
import type { Client } from './client.js';
import { type User, USER_FIELDS } from '../user/user.js';

/** An earlier decision of the user on this client, from a grant that is still live. */
export interface EarlierDecision {
  /** What the client requested, and what of it the user allowed; both space-separated (RFC 6749 3.3). */
  readonly asked: string;
  readonly allowed: string;
  /** The APIs that this was for (RFC 8707), space-separated and sorted; null for every API. */
  readonly resources: string | null;
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
  /** How many grants the user gave the client in the last 24 hours, including revoked ones; counted to 100 or more. */
  readonly grantsOfDay: number;
}

/** Times as JSON has them. */
type Decision = Omit<EarlierDecision, 'at'> & { readonly at: string };

interface Consent {
  readonly decisions: readonly Decision[] | null;
  readonly grantsOfDay: number;
}

type ClientRow = Omit<Client, 'createdAt' | 'disabledAt'> & {
  readonly createdAt: string;
  readonly disabledAt: string | null;
};

interface Row extends Consent {
  readonly client: ClientRow | null;
  readonly user: User | null;
  /** Whether there are more grants than were read. */
  readonly more: boolean;
}

/** Bounds the query. Decisions beyond it are ignored, so the user is asked again. */
const DECISIONS = 100;
/** Grants that are read one by one; more than most users give one client. */
const FEW = 200;
/** Bounds the query: of each decision, so many live and so many revoked grants of a day are counted. */
const COUNTED = 100;

/**
 * The order is that of an index: without one, PostgreSQL might look for the first grants of a user who has many in the whole
 * table.
 */
const QUERY = `
  WITH own AS MATERIALIZED (
    SELECT asked_scope, scope, resources, created_at, revoked_at, expires_at FROM grants
    WHERE user_id = $2 AND client_id = $1 ORDER BY asked_scope LIMIT ${FEW + 1}
  )
  SELECT
    (SELECT row_to_json(client) FROM (
       SELECT c.client_id AS "clientId", c.name, c.type, c.redirect_uris AS "redirectUris", c.scopes,
              c.optional_scopes AS "optionalScopes", c.require_par AS "requirePar",
              c.require_state AS "requireState", c.first_party AS "firstParty", c.client_uri AS "clientUri",
              c.policy_uri AS "policyUri", c.contacts, c.disabled_at AS "disabledAt", l.digest AS logo,
              c.created_at AS "createdAt"
       FROM clients c LEFT JOIN client_logos l ON l.client_id = c.client_id
       WHERE c.client_id = $1 AND c.deleted_at IS NULL
     ) client) AS client,
    (SELECT row_to_json(account) FROM (
       SELECT ${USER_FIELDS} FROM users WHERE id = $2
     ) account) AS "user",
    (SELECT json_agg(decision) FROM (
       SELECT asked_scope AS asked, scope AS allowed, nullif(resources, '') AS resources, max(created_at) AS at
       FROM own WHERE revoked_at IS NULL AND expires_at > now()
       GROUP BY asked_scope, scope, resources
       ORDER BY at DESC LIMIT ${DECISIONS}
     ) decision) AS decisions,
    (SELECT count(*)::integer FROM own WHERE created_at > now() - interval '1 day') AS "grantsOfDay",
    (SELECT count(*) > ${FEW} FROM own) AS more`;

/** The same of a user who has given the client more grants. */
const MANY = `
  WITH RECURSIVE ${everyDecision('$2', '$1')}
  SELECT
    (SELECT json_agg(earlier) FROM (
       SELECT decision.asked_scope AS asked, decision.scope AS allowed, nullif(decision.resources, '') AS resources,
              newest.at
       FROM decision CROSS JOIN LATERAL (
         SELECT g.created_at AS at FROM grants g
         WHERE ${liveOfDecision('$2')} ORDER BY g.created_at DESC LIMIT 1
       ) newest
       ORDER BY newest.at DESC LIMIT ${DECISIONS}
     ) earlier) AS decisions,
    (SELECT count(*)::integer
     FROM decision CROSS JOIN (VALUES (true), (false)) state (unrevoked) CROSS JOIN LATERAL (
       SELECT FROM grants g
       WHERE ${ofDecision('$2')} AND (g.revoked_at IS NULL) = state.unrevoked
         AND g.created_at > now() - interval '1 day'
       ORDER BY g.created_at DESC LIMIT ${COUNTED}
     ) recent) AS "grantsOfDay"`;

/** Reads client, user and earlier consent, without secrets: in one statement, or two for a user with many grants. */
@Injectable()
export class AuthorizationContextStore {
  constructor(private readonly dataSource: DataSource) {}

  /** @param userId of the session; null if nobody is logged in */
  async find(clientId: string, userId: number | null): Promise<AuthorizationContext> {
    // RFC 6749 A.1: visible ASCII. Anything else cannot be registered, and some of it (NUL) PostgreSQL refuses.
    const known = isClientId(clientId) ? clientId : null;
    const row = await this.row<Row>(QUERY, [known, userId]);
    const { client, user, more } = row;
    const { decisions, grantsOfDay } = more ? await this.row<Consent>(MANY, [known, userId]) : row;
    const earlier = client ? (decisions ?? []) : [];
    return {
      client: client && toClient(client),
      user,
      decisions: earlier.map(({ at, ...of }) => ({ ...of, at: new Date(at) })),
      grantsOfDay,
    };
  }

  private async row<T>(query: string, values: unknown[]): Promise<T> {
    const [row] = await this.dataSource.query<T[]>(query, values);
    if (!row) throw new Error('a SELECT of one row answered with none');
    return row;
  }
}

function toClient({ createdAt, disabledAt, ...client }: ClientRow): Client {
  return {
    ...client,
    createdAt: new Date(createdAt),
    disabledAt: disabledAt === null ? null : new Date(disabledAt),
  };
}
