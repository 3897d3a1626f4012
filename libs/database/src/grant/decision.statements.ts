/**
 * SQL that groups a user's grants by decision: a combination of client, requested scope, granted scope and APIs. A user can
 * have 100,000 grants but few decisions, and the index `grants_decision` finds each of them, so that the query costs little
 * more than for other users. Reading all grants is cheaper for the few grants of most users.
 */

const COLUMNS = 'g.client_id, g.requested_scope, g.scope, g.resources';

/**
 * Recursive CTE `decision` (client_id, requested_scope, scope, resources): every decision of a user once, including those of
 * revoked and expired grants.
 * @param userId SQL expression
 * @param clientId SQL expression; null for every client
 */
export function decisions(userId: string, clientId: string | null): string {
  const whose = `g.user_id = ${userId}${clientId === null ? '' : ` AND g.client_id = ${clientId}`}`;
  // Omits client_id if it is fixed: otherwise PostgreSQL reads all of the client's grants instead of continuing after the last
  // decision.
  const columns = [...(clientId === null ? ['client_id'] : []), 'requested_scope', 'scope', 'resources'];
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

/** SQL condition: grant `g` belongs to `decision`. @param userId SQL expression */
export const ofDecision = (userId: string): string => `
  g.user_id = ${userId} AND g.client_id = decision.client_id
    AND g.requested_scope = decision.requested_scope AND g.scope = decision.scope AND g.resources = decision.resources`;

export const liveOfDecision = (userId: string): string =>
  `${ofDecision(userId)} AND g.revoked_at IS NULL AND g.expires_at > now()`;

/**
 * SQL condition: a decision for the APIs `decided` covers `these`. Both are SQL expressions of space-separated identifiers;
 * empty means every API.
 */
export const isFor = (decided: string, these: string): string => `
  (${decided} = '' OR (${these} <> '' AND string_to_array(${these}, ' ') <@ string_to_array(${decided}, ' ')))`;
