import type { DataSource, EntityManager } from 'typeorm';
import type { RevocationCause } from '#oauth/revocation-cause.js';
import { MAX_LIVE_GRANTS } from '../grant.js';

export interface NewGrantRecord {
  id: string;
  userId: number;
  clientId: string;
  scope: string;
  requestedScope: string;
  resources: string | null;
  /** Login of a grant with the scope `openid`. `authTime` is in seconds since the epoch, null if unknown. */
  login?: { readonly authTime: number | null; readonly session: string } | null;
  /** Expiry of an unused grant. The time from the creation until then is the lifetime, which each use starts anew. */
  expiresAt: Date;
  /**
   * End of the grant in milliseconds, whatever its use: requires that the client is live, or that the user owns or
   * tests it. Null or absent without an end.
   */
  endsAt?: number | null;
  /** True for consent without a page: requires that live grants to the client still cover each scope for each API. */
  continuesConsent?: boolean;
  /** Seconds for which the same id may be recorded again, because the user has sent the same form again. */
  repeatableFor?: number;
}

export interface GrantFilter {
  readonly userId?: number | undefined;
  readonly clientId?: string | undefined;
}

export const LIVE = 'grant.revokedAt IS NULL AND grant.expiresAt > now()';

/** Set explicitly, because statements after a lock must see the changes that the lock's previous holder committed. */
export const ISOLATION_LEVEL = 'READ COMMITTED';

const PARAMETERS = [
  'id',
  'userId',
  'clientId',
  'scope',
  'requestedScope',
  'resources',
  'expiresAt',
  'endsAt',
  'authTime',
  'session',
  'repeatableFor',
] as const;
type RecordParameter = (typeof PARAMETERS)[number];

/** Placeholders of `recordGrant` by the names of their values. */
const $ = Object.fromEntries(PARAMETERS.map((name, n) => [name, `$${n + 1}`])) as Readonly<
  Record<RecordParameter, string>
>;

/** SQL condition: the grant covers the requested APIs, space-separated. A grant without APIs covers every API. */
const COVERS_APIS = `
  (g.resources = ''
    OR (${$.resources} <> '' AND string_to_array(${$.resources}, ' ') <@ string_to_array(g.resources, ' ')))`;

/**
 * Checks `continuesConsent`: selects for each scope the newest live grant that covers the scope for these APIs, and
 * locks the grants in the common lock order. Uses the order of the index `grants_user_client`, because PostgreSQL might
 * otherwise read the revoked grants as well.
 */
const CONTINUED_CONSENT = `
  CROSS JOIN LATERAL (
    SELECT string_agg(scope, ' ') AS scope FROM (
      SELECT held.scope FROM grants held
      WHERE held.revoked_at IS NULL AND held.expires_at > now() AND held.id IN (
        SELECT DISTINCT ON (token) g.id
        FROM (
          SELECT id, scope, resources, created_at FROM grants
          WHERE user_id = account.user_id AND client_id = client.client_id AND revoked_at IS NULL AND expires_at > now()
            AND (ends_at IS NULL OR ${$.endsAt}::timestamptz IS NOT NULL)
            AND created_at >= coalesce(client.document_changed_at, '-infinity')
          ORDER BY created_at DESC
        ) g CROSS JOIN LATERAL unnest(string_to_array(g.scope, ' ')) token
        WHERE token = ANY(string_to_array(${$.scope}, ' ')) AND ${COVERS_APIS}
        ORDER BY token, g.created_at DESC
      )
      ORDER BY held.id FOR SHARE
    ) covering
  ) continued
  WHERE string_to_array(${$.scope}, ' ') <@ string_to_array(continued.scope, ' ')`;

const USABLE_CLIENT = 'deleted_at IS NULL AND disabled_at IS NULL';

/**
 * SQL condition of a grant with an end. The caller locks the client in an earlier statement, so that this statement
 * sees a removal of the owner or tester that the lock waited for.
 */
const MEMBER = `
  AND (client.stage = 'live'
    OR EXISTS (SELECT FROM client_owners m WHERE m.client_id = client.client_id AND m.user_id = u.id)
    OR EXISTS (SELECT FROM client_testers m WHERE m.client_id = client.client_id AND m.user_id = u.id))`;

/** Locks client and user in the common lock order. Returns no row if either is missing or disabled. */
export const LOCK_CLIENT_AND_USER = `
  SELECT 1 FROM (SELECT client_id FROM clients WHERE client_id = $1 AND ${USABLE_CLIENT} FOR SHARE) client
  CROSS JOIN LATERAL (
    SELECT u.id FROM users u
    WHERE u.id = $2 AND u.disabled_at IS NULL AND client.client_id IS NOT NULL FOR NO KEY UPDATE
  ) account`;

/**
 * Selects the user's longest-expired grants. Selects more than one per insert, so that a backlog shrinks. A grant
 * without a redeemed code is kept for a day, because the limit of grants without a page counts it.
 */
const LONGEST_EXPIRED = `
  SELECT id FROM grants
  WHERE user_id = ${$.userId} AND expires_at < now() - interval '1 day' AND (revoked_at IS NULL OR revocation_applied_at < now() - interval '1 day')
  ORDER BY expires_at LIMIT 1000`;

/** Selects the ten grants of any user, including deleted users, whose revocations were applied first. */
const LONGEST_REVOKED = `
  SELECT id FROM grants WHERE revocation_applied_at IS NOT NULL ORDER BY revocation_applied_at LIMIT 10`;

/**
 * Records a grant. A repetition makes `expires_at` differ from the expiry of every request, so that no failed request
 * withdraws the record of another one.
 * @returns ids of the grants that the limit revoked; null if nothing was recorded
 */
export async function recordGrant(
  on: Pick<EntityManager, 'query'>,
  { resources, endsAt = null, login, continuesConsent = false, repeatableFor = 0, ...record }: NewGrantRecord,
): Promise<string[] | null> {
  const values: Readonly<Record<RecordParameter, unknown>> = {
    ...record,
    resources: resources ?? '',
    endsAt: endsAt === null ? null : new Date(endsAt),
    authTime: login?.authTime,
    session: login?.session,
    repeatableFor,
  };
  const [created] = await on.query<{ revoked: string[] }[]>(
    `WITH expired AS (
       DELETE FROM grants WHERE id IN (
         SELECT id FROM grants
         WHERE id = ANY(ARRAY(${LONGEST_EXPIRED}) || ARRAY(${LONGEST_REVOKED})) AND expires_at < now()
           AND (revoked_at IS NULL OR revocation_applied_at < now() - interval '1 day')
         FOR UPDATE SKIP LOCKED
       )
     ), client AS (
       SELECT client_id, document_changed_at, stage FROM clients
       WHERE client_id = ${$.clientId} AND ${USABLE_CLIENT} FOR SHARE
     )
     INSERT INTO grants (
       id, user_id, client_id, scope, requested_scope, resources,
       expires_at, lifetime, ends_at, auth_time, session
     )
     SELECT
       ${$.id}, user_id, client_id, ${$.scope}, ${$.requestedScope}, ${$.resources},
       ${$.expiresAt}::timestamptz, ${$.expiresAt}::timestamptz - now(), ${$.endsAt}::timestamptz, ${$.authTime}, ${$.session}
     FROM client
     CROSS JOIN LATERAL (
       SELECT u.id AS user_id FROM users u
       WHERE u.id = ${$.userId} AND u.disabled_at IS NULL AND client.client_id IS NOT NULL ${endsAt === null ? '' : MEMBER}
       FOR NO KEY UPDATE
     ) account
     ${continuesConsent ? CONTINUED_CONSENT : ''}
     ON CONFLICT (id) DO UPDATE
     SET expires_at = greatest(grants.expires_at, excluded.expires_at) + interval '1 microsecond',
         ends_at = greatest(grants.ends_at, excluded.ends_at)
     WHERE ${$.repeatableFor}::int > 0 AND grants.revoked_at IS NULL
       AND grants.created_at > now() - make_interval(secs => ${$.repeatableFor}::int)
     RETURNING revoke_oldest_grants(user_id, client_id, id, ${MAX_LIVE_GRANTS}) AS revoked`,
    PARAMETERS.map((name) => values[name]),
  );
  return created?.revoked ?? null;
}

/** Grants per statement, so that the statement stays below the timeout. */
export const BATCH = 5000;

/**
 * Revokes grants, including expired ones, because a recent use may not be recorded yet. Concurrent calls return the
 * same ids, so that neither reports success while the other fails. The caller locks the user in an earlier statement,
 * so that this statement sees the grants that the lock waited for.
 * @param condition SQL condition on the user's grants
 * @returns ids of grants revoked now or in the last ten minutes, and of grants whose revocation is not applied yet
 */
export async function revokeGrants(
  manager: EntityManager,
  condition: string,
  values: readonly unknown[],
  cause: RevocationCause,
): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const revoked = await manager.query<{ id: string }[]>(
      `WITH matching AS (
         SELECT id FROM grants
         WHERE ${condition} AND id > $${values.length + 1}
           AND (revocation_applied_at IS NULL OR revoked_at > now() - interval '10 minutes')
         ORDER BY id LIMIT ${BATCH} FOR NO KEY UPDATE
       ), revoked AS (
         UPDATE grants g SET revoked_at = coalesce(g.revoked_at, now()), revoked_for = coalesce(g.revoked_for, $${values.length + 2})
         FROM matching
         WHERE g.id = matching.id RETURNING g.id
       )
       SELECT id FROM revoked ORDER BY id`,
      [...values, ids.at(-1) ?? '', cause],
    );
    for (const { id } of revoked) ids.push(id);
    if (revoked.length < BATCH) return ids;
  }
}

async function lockClient(manager: EntityManager, clientId: string): Promise<void> {
  await manager.query('SELECT FROM clients WHERE client_id = $1 FOR NO KEY UPDATE', [clientId]);
}

export async function lockUser(manager: EntityManager, id: number): Promise<void> {
  await manager.query('SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE', [id]);
}

/** Omits undefined criteria, which TypeORM rejects. */
export function ownedBy({ userId, clientId }: GrantFilter): { userId?: number; clientId?: string } {
  return { ...(userId !== undefined && { userId }), ...(clientId !== undefined && { clientId }) };
}

/**
 * Revokes the owner's grants. Includes grants that are being recorded, and expired grants, because a recent use may
 * not be recorded yet. Each batch is a transaction, so that a second call continues an interrupted call.
 */
export async function revokeOwned(
  dataSource: DataSource,
  owner: GrantFilter,
  onBatch: (revoked: number) => void,
): Promise<void> {
  let after: Position | null = FIRST;
  while (after !== null) {
    const batch: RevokedBatch = await revokeAfter(dataSource, owner, after);
    onBatch(batch.revoked);
    after = batch.next;
  }
}

/** Revokes one batch, as `revokeOwned` does. @returns `more`: true if another call may find further grants */
export async function revokeSome(
  dataSource: DataSource,
  owner: GrantFilter,
): Promise<{ readonly revoked: number; readonly more: boolean }> {
  const { revoked, next } = await revokeAfter(dataSource, owner, FIRST);
  return { revoked, more: next !== null };
}

/** Oldest grants come first, as in the indexes of live grants. */
interface Position {
  readonly createdAt: string;
  readonly id: string;
}

const FIRST: Position = { createdAt: '-infinity', id: '' };

interface RevokedBatch {
  readonly revoked: number;
  /** End of the batch; null if no further grants were found. */
  readonly next: Position | null;
}

function revokeAfter(dataSource: DataSource, owner: GrantFilter, after: Position): Promise<RevokedBatch> {
  return dataSource.transaction(ISOLATION_LEVEL, (manager) => revokeBatch(manager, owner, after));
}

/**
 * Locks client, user and grants in the common lock order, and so waits for grants that are being recorded. Begins after
 * the previous batch, because a search from the start would read the index entries of all revoked grants again.
 */
async function revokeBatch(
  manager: EntityManager,
  { userId, clientId }: GrantFilter,
  after: Position,
): Promise<RevokedBatch> {
  if (clientId !== undefined) await lockClient(manager, clientId);
  if (userId !== undefined) await lockUser(manager, userId);
  const values: unknown[] = [after.createdAt, after.id];
  const owned = Object.entries({ client_id: clientId, user_id: userId }).flatMap(([column, value]) =>
    value === undefined ? [] : [`AND ${column} = $${values.push(value)}`],
  );
  const [batch] = await manager.query<{ revoked: number; found: number; last: Position | null }[]>(
    `WITH batch AS MATERIALIZED (
       SELECT id, created_at FROM grants
       WHERE revoked_at IS NULL ${owned.join(' ')} AND (created_at, id) > ($1::timestamptz, $2)
       ORDER BY created_at, id LIMIT ${BATCH}
     ), locked AS (
       SELECT id FROM grants WHERE id IN (SELECT id FROM batch) AND revoked_at IS NULL ORDER BY id FOR NO KEY UPDATE
     ), revoked AS (
       UPDATE grants g SET revoked_at = now(), revoked_for = 'operator' FROM locked WHERE g.id = locked.id RETURNING g.id
     )
     SELECT (SELECT count(*)::integer FROM revoked) AS revoked, (SELECT count(*)::integer FROM batch) AS found, (
       SELECT jsonb_build_object('createdAt', created_at, 'id', id) FROM batch ORDER BY created_at DESC, id DESC LIMIT 1
     ) AS last`,
    values,
  );
  const { revoked = 0, found = 0, last = null } = batch ?? {};
  return { revoked, next: found === BATCH ? last : null };
}
