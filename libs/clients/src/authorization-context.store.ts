import { Injectable } from '@nestjs/common';
import { isClientId, shownName } from '#oauth/oauth-client.js';
import { DataSource } from 'typeorm';
import { selectedFlags } from './client-flags.js';
import type { Client } from './client.js';
import { type User, USER_FIELDS } from '#users/user.js';

/** An earlier decision of the user about this client, from a live grant. */
export interface EarlierDecision {
  /** Requested and granted scopes, space-separated (RFC 6749 3.3). */
  readonly requested: string;
  readonly granted: string;
  /** APIs that the user decided about (RFC 8707), space-separated and sorted; null for every API. */
  readonly resources: string | null;
  readonly at: Date;
}

export interface AuthorizationContext {
  /** Null if the client is unknown or deleted. */
  readonly client: Client | null;
  /** Null without a session, or if the user was deleted. */
  readonly user: User | null;
  /** Newest first, without duplicates. */
  readonly decisions: readonly EarlierDecision[];
  /** Number of the user's grants to the client in the last 24 hours, including revoked grants; at most 100. */
  readonly grantsOfDay: number;
  /** False if the client is in testing, and the user is not an owner or tester. */
  readonly isAdmitted: boolean;
}

type Decision = Omit<EarlierDecision, 'at'> & { readonly at: string };

type ClientRow = Omit<Client, 'createdAt' | 'disabledAt' | 'subjectKey' | 'document'> & {
  /** Hexadecimal. */
  readonly subjectKey: string | null;
  readonly createdAt: string;
  readonly disabledAt: string | null;
  readonly documentDueAt: string | null;
  readonly documentChangedAt: string | null;
  readonly documentProblem: string | null;
  readonly isAdmitted: boolean;
};

interface Row {
  readonly client: ClientRow | null;
  readonly user: User | null;
  readonly decisions: readonly Decision[] | null;
  readonly grantsOfDay: number;
}

const COUNT_LIMIT = 100;

/** PostgreSQL evaluates this only for a grant with an end. */
const IN_TESTING = `EXISTS (SELECT FROM clients WHERE client_id = $1 AND stage = 'testing')`;

/** Uses the order of the index `grants_user_client`, because PostgreSQL might otherwise read all revoked grants. */
const QUERY = `
  WITH own AS MATERIALIZED (
    SELECT requested_scope, scope, resources, created_at, expires_at, ends_at FROM grants
    WHERE user_id = $2 AND client_id = $1 AND revoked_at IS NULL ORDER BY created_at DESC
  )
  SELECT
    (SELECT row_to_json(client) FROM (
       SELECT c.client_id AS "clientId", c.name, c.type, c.redirect_uris AS "redirectUris", c.scopes,
              c.optional_scopes AS "optionalScopes", ${selectedFlags('c')}, c.device_grant AS "deviceGrant",
              c.id_token_alg AS "idTokenAlg", c.sector,
              (SELECT encode(s.key, 'hex') FROM subject_sectors s WHERE s.sector = c.sector) AS "subjectKey",
              c.post_logout_redirect_uris AS "postLogoutRedirectUris", c.backchannel_logout_uri AS "backchannelLogoutUri",
              c.client_uri AS "clientUri", c.policy_uri AS "policyUri", c.contacts, c.stage, c.disabled_at AS "disabledAt", l.digest AS logo,
              c.document_due_at AS "documentDueAt", c.document_changed_at AS "documentChangedAt",
              c.document_problem AS "documentProblem", c.created_at AS "createdAt",
              CASE c.stage WHEN 'live' THEN true ELSE EXISTS (SELECT FROM client_owners WHERE client_id = $1 AND user_id = $2)
                OR EXISTS (SELECT FROM client_testers WHERE client_id = $1 AND user_id = $2) END AS "isAdmitted"
       FROM clients c LEFT JOIN client_logos l ON l.client_id = c.client_id
       WHERE c.client_id = $1 AND c.deleted_at IS NULL
     ) client) AS client,
    (SELECT row_to_json(account) FROM (
       SELECT ${USER_FIELDS} FROM users WHERE id = $2
     ) account) AS "user",
    (SELECT json_agg(decision) FROM (
       SELECT requested_scope AS requested, scope AS granted, nullif(resources, '') AS resources, max(created_at) AS at
       FROM own WHERE expires_at > now() AND (ends_at IS NULL OR ${IN_TESTING})
       GROUP BY requested_scope, scope, resources
       ORDER BY at DESC
     ) decision) AS decisions,
    (SELECT count(*)::integer FROM (
       SELECT FROM grants WHERE user_id = $2 AND client_id = $1 AND created_at > now() - interval '1 day'
       ORDER BY created_at DESC LIMIT ${COUNT_LIMIT}
     ) recent) AS "grantsOfDay"`;

/** Reads client, user and earlier consent in one query, without secrets. `client.name` is the name that pages show. */
@Injectable()
export class AuthorizationContextStore {
  constructor(private readonly dataSource: DataSource) {}

  /** @param userId null without a session */
  async find(clientId: string, userId: number | null): Promise<AuthorizationContext> {
    const known = isClientId(clientId) ? clientId : null;
    const [row] = await this.dataSource.query<Row[]>(QUERY, [known, userId]);
    if (!row) throw new Error('the query returned no row');
    const { user, decisions, grantsOfDay } = row;
    const client = row.client && toClient(row.client);
    const since = client?.document?.changedAt.getTime() ?? -Infinity;
    const earlier = client ? (decisions ?? []) : [];
    return {
      client,
      user,
      decisions: earlier
        .map(({ at, ...decision }) => ({ ...decision, at: new Date(at) }))
        .filter(({ at }) => at.getTime() >= since),
      grantsOfDay,
      isAdmitted: row.client?.isAdmitted === true,
    };
  }
}

function toClient(row: ClientRow): Client {
  const {
    createdAt,
    disabledAt,
    subjectKey,
    documentDueAt,
    documentChangedAt,
    documentProblem,
    isAdmitted: _,
    ...client
  } = row;
  return {
    ...client,
    name: shownName(client.clientId, client.name, documentDueAt !== null),
    document:
      documentDueAt === null || documentChangedAt === null
        ? null
        : {
            dueAt: new Date(documentDueAt),
            changedAt: new Date(documentChangedAt),
            problem: documentProblem,
          },
    subjectKey: subjectKey === null ? null : Buffer.from(subjectKey, 'hex'),
    createdAt: new Date(createdAt),
    disabledAt: disabledAt === null ? null : new Date(disabledAt),
  };
}
