/** A column of `users` that the product may set, with its type and, if it cannot be null, the value of a new user. */
interface ProfileColumn {
  readonly name: string;
  readonly type: 'text' | 'integer' | 'smallint';
  /** SQL; absent if the column may be null. */
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

const given = ({ name, type }: ProfileColumn): string => `(i.line ->> '${name}')::${type}`;

/** SQL: the value of a known user's column. */
function updated(column: ProfileColumn): string {
  const { name, initially } = column;
  if (initially === undefined) return `CASE WHEN i.line ? '${name}' THEN ${given(column)} ELSE u.${name} END`;
  // A username that is the e-mail remains the e-mail.
  const follows = name === 'username' ? `CASE WHEN u.username = u.email THEN i.line ->> 'email' END, ` : '';
  return `coalesce(${given(column)}, ${follows}u.${name})`;
}

/**
 * SQL: whether the product enables a known user again. By a newer change only: one that is repeated must not undo a change of the
 * same time. The operator's disable stays.
 */
const ENABLES = `(i.line -> 'enable' = 'true' AND u.product_disabled_at IS NOT NULL AND coalesce(i.updated_at > u.external_updated_at, true))`;

/** SQL: whether the email is verified. If the issuer does not say, a verified email stays verified until it changes. */
const EMAIL_VERIFIED = `coalesce(
  (i.line ->> 'email_verified')::boolean,
  u.email_verified AND coalesce(${sameEmail('u.email', `i.line ->> 'email'`)}, true)
)`;

/**
 * SQL: whether two emails are the same but for the case of ASCII letters: other letters that PostgreSQL equates, such as K and the
 * Kelvin sign, may be mailboxes of two people.
 */
function sameEmail(one: string, other: string): string {
  return `lower(${one} COLLATE "C") = lower(${other} COLLATE "C")`;
}

/** SQL: what an update sets, as pairs of column and value. */
const CHANGES: readonly (readonly [column: string, value: string])[] = [
  ...COLUMNS.map((column) => [column.name, updated(column)] as const),
  ['issuer', 'coalesce(i.issuer, u.issuer)'],
  ['external_id', 'coalesce(i.external_id, u.external_id)'],
  ['external_updated_at', 'coalesce(i.updated_at, u.external_updated_at)'],
  ['email_verified', EMAIL_VERIFIED],
  ['product_disabled_at', `CASE WHEN ${ENABLES} THEN NULL ELSE u.product_disabled_at END`],
  // As UserAccountStore.enable: sessions from before stay invalid, however the user was disabled.
  ['session_generation', `u.session_generation + CASE WHEN ${ENABLES} THEN 1 ELSE 0 END`],
  // A hash that is stored may be newer than the product's: made at a login, or set by the operator.
  [
    'password_hash',
    `CASE WHEN u.password_hash IS NULL OR i.line -> 'replace_password' = 'true'
       THEN coalesce(i.line ->> 'password_hash', u.password_hash) ELSE u.password_hash END`,
  ],
];

/** SQL: whether a known user changes. */
const CHANGED = `
  CASE WHEN known.is_new THEN u.issuer IS NULL ELSE coalesce(u.external_id = i.external_id, i.external_id IS NULL) END
  AND (known.is_new OR coalesce(i.updated_at >= u.external_updated_at, true))
  AND (${CHANGES.map(([column]) => `u.${column}`).join(', ')})
    IS DISTINCT FROM (${CHANGES.map(([, value]) => value).join(', ')})`;

/**
 * Creates or updates users by their identities, or by e-mail if they have none: one statement, atomic for each user.
 * $1 is a JSON array of objects with the columns above, and
 *
 * - `issuer` and `external_id`: both or none, each pair once
 * - `updated_at`: an older one than the stored changes nothing
 * - `asserted_at`: when a login was asserted, in place of `updated_at`; only a later deletion of the identity outdates it
 * - `email_verified`: whether the issuer has verified the email; absent if it does not say
 * - `link`: whether an unknown identity is given to the user without one who has the same e-mail, verified: somebody else may have
 *   opened the account with an unverified one, and would keep its password and grants
 * - `password_hash`, and `replace_password`: whether it replaces one that is stored
 * - `disabled`: whether a new user is disabled, by the product if they have an identity; says nothing of a known one
 * - `enable`: whether the product no longer disables a known user, if `updated_at` is newer than the stored one
 *
 * Answers for each element with its index `at`, the user's `id`, the outcome, whether the user was disabled before, and whether
 * they have another password, which was not replaced. No id: the identity was deleted after this change (`deleted`), or another
 * statement has created, changed or deleted the user meanwhile, and this one has to be repeated.
 */
export const BRING_UP_TO_DATE = `
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
    WHERE i.issuer IS NULL AND (u.password_hash IS NOT NULL OR u.issuer IS NULL)
  ), known AS (
    SELECT at, id, false AS is_new FROM identified
    UNION ALL SELECT at, id, true FROM linked
    UNION ALL SELECT at, id, false FROM named
  ), changed AS (
    UPDATE users u SET ${CHANGES.map(([column, value]) => `${column} = ${value}`).join(', ')}
    FROM known JOIN input i USING (at)
    WHERE u.id = known.id AND ${CHANGED}
    RETURNING i.at, u.disabled_at
  ), created AS (
    INSERT INTO users (issuer, external_id, external_updated_at, password_hash, email_verified, operator_disabled_at,
                       product_disabled_at, ${COLUMNS.map(({ name }) => name).join(', ')})
    SELECT i.issuer, i.external_id, i.updated_at, i.line ->> 'password_hash', coalesce((i.line ->> 'email_verified')::boolean, false),
           CASE WHEN i.line -> 'disabled' = 'true' AND i.issuer IS NULL THEN now() END,
           CASE WHEN i.line -> 'disabled' = 'true' AND i.issuer IS NOT NULL THEN now() END, ${COLUMNS.map(
             (column) =>
               column.initially === undefined
                 ? given(column)
                 : `coalesce(${given(column)}, ${column.initially})`,
           ).join(', ')}
    FROM input i JOIN unidentified USING (at)
    WHERE NOT unidentified.was_deleted AND NOT EXISTS (SELECT FROM known WHERE known.at = i.at)
    ON CONFLICT (issuer, external_id) WHERE issuer IS NOT NULL DO NOTHING
    RETURNING id, issuer, external_id, email
  )
  SELECT i.at,
         CASE WHEN known.id IS NOT NULL AND changed.at IS NULL AND (known.is_new OR (${CHANGED})) THEN NULL
              ELSE coalesce(known.id, identity.id, login.id)
         END AS id,
         CASE WHEN coalesce(identity.id, login.id) IS NOT NULL THEN 'created' WHEN changed.at IS NOT NULL THEN 'updated'
              WHEN unidentified.was_deleted THEN 'deleted' WHEN i.updated_at < u.external_updated_at THEN 'stale' ELSE 'kept'
         END AS outcome,
         u.disabled_at IS NOT NULL AS "wasDisabled",
         CASE WHEN coalesce(identity.id, login.id) IS NOT NULL THEN i.line -> 'disabled' = 'true'
              WHEN changed.at IS NOT NULL THEN changed.disabled_at IS NOT NULL ELSE u.disabled_at IS NOT NULL
         END AS disabled,
         coalesce(u.password_hash <> i.line ->> 'password_hash' AND i.line -> 'replace_password' = 'false', false) AS "keptPassword"
  FROM input i
    LEFT JOIN unidentified USING (at)
    LEFT JOIN known USING (at)
    LEFT JOIN users u ON u.id = known.id
    LEFT JOIN changed USING (at)
    LEFT JOIN created identity ON identity.issuer = i.issuer AND identity.external_id = i.external_id
    LEFT JOIN created login ON i.issuer IS NULL AND login.issuer IS NULL AND login.email = i.line ->> 'email'
  ORDER BY i.at`;
