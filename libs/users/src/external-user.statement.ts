interface ProfileColumn {
  readonly name: string;
  readonly type: 'text' | 'integer' | 'smallint';
  /** SQL of the default for a new user; absent if the column is nullable. */
  readonly initially?: string;
}

const COLUMNS: readonly ProfileColumn[] = [
  { name: 'email', type: 'text', initially: 'NULL' },
  { name: 'username', type: 'text', initially: `i.line ->> 'email'` },
  { name: 'name', type: 'text', initially: `left(coalesce(i.line ->> 'username', i.line ->> 'email'), 100)` },
  { name: 'avatar_url', type: 'text' },
  { name: 'bio', type: 'text' },
  { name: 'time_format', type: 'smallint', initially: '12' },
  { name: 'default_schedule_id', type: 'integer' },
  { name: 'week_start', type: 'text', initially: `'Sunday'` },
  { name: 'time_zone', type: 'text', initially: `'UTC'` },
  { name: 'organization_id', type: 'integer' },
  { name: 'locale', type: 'text' },
];

const inputValue = ({ name, type }: ProfileColumn): string => `(i.line ->> '${name}')::${type}`;

function updatedValue(column: ProfileColumn): string {
  const { name, initially } = column;
  if (initially === undefined)
    return `CASE WHEN i.line ? '${name}' THEN ${inputValue(column)} ELSE u.${name} END`;
  // A username that equals the email follows the email.
  const emailAsUsername =
    name === 'username' ? `CASE WHEN u.username = u.email THEN i.line ->> 'email' END, ` : '';
  return `coalesce(${inputValue(column)}, ${emailAsUsername}u.${name})`;
}

/**
 * SQL condition: the input enables a user disabled by the product. Does not accept equal times, because a redelivered
 * message must not undo a disable with the same time.
 */
const REENABLES = `(i.line -> 'enable' = 'true' AND u.product_disabled_at IS NOT NULL AND coalesce(i.updated_at > u.external_updated_at, true))`;

/** SQL: without a claim from the issuer, a verified email stays verified until the email changes. */
const EMAIL_VERIFIED = `coalesce(
  (i.line ->> 'email_verified')::boolean,
  u.email_verified AND coalesce(${sameEmail('u.email', `i.line ->> 'email'`)}, true)
)`;

/** Ignores only the case of ASCII letters. Most collations equate K and the Kelvin sign, but the mailboxes differ. */
function sameEmail(a: string, b: string): string {
  return `lower(${a} COLLATE "C") = lower(${b} COLLATE "C")`;
}

type Assignment = readonly [column: string, value: string];

const ASSIGNMENTS: readonly Assignment[] = [
  ...COLUMNS.map((column) => [column.name, updatedValue(column)] as const),
  ['issuer', 'coalesce(i.issuer, u.issuer)'],
  ['external_id', 'coalesce(i.external_id, u.external_id)'],
  ['external_updated_at', 'coalesce(i.updated_at, u.external_updated_at)'],
  ['email_verified', EMAIL_VERIFIED],
  ['product_disabled_at', `CASE WHEN ${REENABLES} THEN NULL ELSE u.product_disabled_at END`],
  // Existing sessions stay invalid, as in UserAccountStore.enable.
  ['session_generation', `u.session_generation + CASE WHEN ${REENABLES} THEN 1 ELSE 0 END`],
];

/** Without `replace_password`, keeps a stored hash, which a login or the operator may have set later. */
const PASSWORD_ASSIGNMENT: Assignment = [
  'password_hash',
  `CASE WHEN u.password_hash IS NULL OR i.line -> 'replace_password' = 'true'
     THEN coalesce(i.line ->> 'password_hash', u.password_hash) ELSE u.password_hash END`,
];

export const CREATED_USER_COLUMNS: readonly string[] = [
  'issuer',
  'external_id',
  'external_updated_at',
  'email_verified',
  'operator_disabled_at',
  'product_disabled_at',
  ...COLUMNS.map(({ name }) => name),
];

/** Columns that a statement for users without passwords writes. */
export const UPDATED_USER_COLUMNS: readonly string[] = ['version', ...ASSIGNMENTS.map(([column]) => column)];

const changedBy = (assignments: readonly Assignment[]): string => `
  CASE WHEN known.is_new THEN u.issuer IS NULL ELSE coalesce(u.external_id = i.external_id, i.external_id IS NULL) END
  AND (known.is_new OR coalesce(i.updated_at >= u.external_updated_at, true))
  AND (${assignments.map(([column]) => `u.${column}`).join(', ')})
    IS DISTINCT FROM (${assignments.map(([, value]) => value).join(', ')})`;

/** SQL of the fields that an update may change, without the password hash, which is secret. */
const DESCRIBED = `jsonb_build_object(
  ${[...COLUMNS.map(({ name }) => name), 'issuer', 'external_id', 'email_verified'].map((name) => `'${name}', u.${name}`).join(', ')},
  'disabled_by', array_remove(ARRAY[CASE WHEN u.operator_disabled_at IS NOT NULL THEN 'operator' END,
    CASE WHEN u.product_disabled_at IS NOT NULL THEN 'product' END], NULL))`;

/** SQL of the password hash: empty, or of both rows. */
interface PasswordFields {
  readonly hash: string;
  /** Of the inserted row, with a comma. */
  readonly column: string;
  readonly value: string;
}

/**
 * Creates or updates users by identity, or by email if the input has no identity. Each user is written atomically. $1
 * is a JSON array of objects with the columns above and
 * - `issuer`, `external_id`: both or neither; no duplicates
 * - `updated_at`: time of the change; an element that is older than the stored change is ignored
 * - `asserted_at`: time of a login, instead of `updated_at`; only a later deletion of the identity takes precedence
 * - `email_verified`: absent without a claim from the issuer
 * - `link`: gives an unknown identity to the user who has the same verified email and no identity. An attacker may
 *   have registered an unverified email, and would keep the password and the grants.
 * - `password_hash`; `replace_password` overwrites a stored hash
 * - `disabled`: creates the user disabled, by the product if they have an identity; ignored for an existing user
 * - `enable`: undoes the product's disable of an existing user, unless the stored time is equal or newer
 * Returns a row for each element (index `at`). The id is null if the identity was deleted after this change (outcome
 * `deleted`), or if the statement must be retried because a concurrent one created, changed or deleted the user.
 * `change` has the fields before and after an update; it is null without one, or if another statement changed the user
 * while this one waited for the row.
 */
const upsertUsers = (assignments: readonly Assignment[], password: PasswordFields): string => `
  WITH input AS MATERIALIZED (
    SELECT ordinality::integer - 1 AS at, line, line ->> 'issuer' AS issuer, line ->> 'external_id' AS external_id,
           (line ->> 'updated_at')::timestamptz AS updated_at
    FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS element (line, ordinality)
  ), identified AS (
    SELECT i.at, u.id FROM input i JOIN users u ON u.issuer = i.issuer AND u.external_id = i.external_id AND u.issuer IS NOT NULL
  ), unidentified AS MATERIALIZED (
    SELECT i.at, coalesce(
      identity_was_deleted(i.issuer, i.external_id, coalesce(i.updated_at, (i.line ->> 'asserted_at')::timestamptz)), false
    ) AS was_deleted
    FROM input i WHERE NOT EXISTS (SELECT FROM identified WHERE identified.at = i.at)
  ), linked AS (
    SELECT i.at, u.id FROM input i JOIN unidentified USING (at)
      JOIN users u ON u.issuer IS NULL AND u.email_verified AND lower(u.email) = lower(i.line ->> 'email')
    WHERE i.line -> 'link' = 'true' AND NOT unidentified.was_deleted AND ${sameEmail('u.email', `i.line ->> 'email'`)}
  ), named AS (
    SELECT i.at, u.id FROM input i JOIN users u ON lower(u.email) = lower(i.line ->> 'email')
    WHERE i.issuer IS NULL AND (u.has_password OR u.issuer IS NULL)
  ), known AS (
    SELECT at, id, false AS is_new FROM identified
    UNION ALL SELECT at, id, true FROM linked
    UNION ALL SELECT at, id, false FROM named
  ), changed AS (
    UPDATE users u SET version = u.version + 1, ${assignments.map(([column, value]) => `${column} = ${value}`).join(', ')}
    FROM known JOIN input i USING (at)
    WHERE u.id = known.id AND ${changedBy(assignments)}
    RETURNING i.at, u.disabled_at, u.version, ${password.hash} AS password_hash, ${DESCRIBED} AS described
  ), created AS (
    INSERT INTO users (issuer, external_id, external_updated_at, ${password.column} email_verified, operator_disabled_at,
                       product_disabled_at, ${COLUMNS.map(({ name }) => name).join(', ')})
    SELECT i.issuer, i.external_id, i.updated_at, ${password.value} coalesce((i.line ->> 'email_verified')::boolean, false),
           CASE WHEN i.line -> 'disabled' = 'true' AND i.issuer IS NULL THEN now() END,
           CASE WHEN i.line -> 'disabled' = 'true' AND i.issuer IS NOT NULL THEN now() END, ${COLUMNS.map(
             (column) =>
               column.initially === undefined
                 ? inputValue(column)
                 : `coalesce(${inputValue(column)}, ${column.initially})`,
           ).join(', ')}
    FROM input i JOIN unidentified USING (at)
    WHERE NOT unidentified.was_deleted AND NOT EXISTS (SELECT FROM known WHERE known.at = i.at)
    ON CONFLICT (issuer, external_id) WHERE issuer IS NOT NULL DO NOTHING
    RETURNING id, issuer, external_id, email
  )
  SELECT i.at,
         CASE WHEN known.id IS NOT NULL AND changed.at IS NULL AND (known.is_new OR (${changedBy(assignments)})) THEN NULL
              ELSE coalesce(known.id, identity.id, login.id)
         END AS id,
         CASE WHEN coalesce(identity.id, login.id) IS NOT NULL THEN 'created' WHEN changed.at IS NOT NULL THEN 'updated'
              WHEN unidentified.was_deleted THEN 'deleted' WHEN i.updated_at < u.external_updated_at THEN 'stale' ELSE 'kept'
         END AS outcome,
         u.disabled_at IS NOT NULL AS "wasDisabled",
         CASE WHEN coalesce(identity.id, login.id) IS NOT NULL THEN i.line -> 'disabled' = 'true'
              WHEN changed.at IS NOT NULL THEN changed.disabled_at IS NOT NULL ELSE u.disabled_at IS NOT NULL
         END AS disabled,
         CASE WHEN changed.version = u.version + 1 THEN jsonb_build_object('before', ${DESCRIBED}, 'after', changed.described,
           'password', changed.password_hash IS DISTINCT FROM ${password.hash}) END AS change,
         coalesce(${password.hash} <> i.line ->> 'password_hash' AND i.line -> 'replace_password' = 'false', false) AS "keptPassword"
  FROM input i
    LEFT JOIN unidentified USING (at)
    LEFT JOIN known USING (at)
    LEFT JOIN users u ON u.id = known.id
    LEFT JOIN changed USING (at)
    LEFT JOIN created identity ON identity.issuer = i.issuer AND identity.external_id = i.external_id
    LEFT JOIN created login ON i.issuer IS NULL AND login.issuer IS NULL AND login.email = i.line ->> 'email'
  ORDER BY i.at`;

/** For elements without `password_hash`. Runs with a role that may not read password hashes. */
export const UPSERT_USERS = upsertUsers(ASSIGNMENTS, { hash: 'NULL::text', column: '', value: '' });

export const UPSERT_USERS_WITH_PASSWORDS = upsertUsers([...ASSIGNMENTS, PASSWORD_ASSIGNMENT], {
  hash: 'u.password_hash',
  column: 'password_hash,',
  value: `i.line ->> 'password_hash',`,
});
