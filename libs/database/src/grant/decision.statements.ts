/**
 * SQL that reads a user's grants by decision: each combination of client, requested scope, allowed scope and APIs is one
 * decision, however many grants repeat it. A user can have 100,000 grants, but has few decisions: the index `grants_decision` finds each
 * of them, so that such a user's pages cost little more than anybody's. For the few grants of most users, reading them all is
 * cheaper.
 */

const COLUMNS = 'g.client_id, g.asked_scope, g.scope, g.resources';

/**
 * The CTE `decision` (client_id, asked_scope, scope, resources), for `WITH RECURSIVE`: every decision of a user once, also of revoked and
 * expired grants.
 *
 * @param userId SQL expression @param clientId SQL expression; null for every client
 */
export function decisions(userId: string, clientId: string | null): string {
  const whose = `g.user_id = ${userId}${clientId === null ? '' : ` AND g.client_id = ${clientId}`}`;
  // Without the client where it is fixed: PostgreSQL would not start at the last decision, but read all of the client's grants.
  const columns = [...(clientId === null ? ['client_id'] : []), 'asked_scope', 'scope', 'resources'];
  const keyOf = (row: string) => columns.map((column) => `${row}.${column}`).join(', ');
  return `
  decision AS (
    (SELECT ${COLUMNS} FROM grants g WHERE ${whose} ORDER BY ${keyOf('g')} LIMIT 1)
    UNION ALL
    SELECT next.* FROM decision CROSS JOIN LATERAL (
      SELECT ${COLUMNS} FROM grants g
      WHERE ${whose} AND (${keyOf('g')}) > (${keyOf('decision')})
      ORDER BY ${keyOf('g')} LIMIT 1
    ) next
  )`;
}

/** SQL condition: the grants `g` of the user that made `decision`. @param userId SQL expression */
export const ofDecision = (userId: string): string => `
  g.user_id = ${userId} AND g.client_id = decision.client_id
    AND g.asked_scope = decision.asked_scope AND g.scope = decision.scope AND g.resources = decision.resources`;

/** SQL condition: the live ones of `ofDecision`. */
export const liveOfDecision = (userId: string): string =>
  `${ofDecision(userId)} AND g.revoked_at IS NULL AND g.expires_at > now()`;

/**
 * SQL condition: what was decided for some APIs is decided for these. Both are SQL expressions of space-separated identifiers;
 * empty means every API.
 */
export const isFor = (decided: string, these: string): string => `
  (${decided} = '' OR (${these} <> '' AND string_to_array(${these}, ' ') <@ string_to_array(${decided}, ' ')))`;
