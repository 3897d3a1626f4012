import { REQUIRE_READ_COMMITTED, trigger } from './statements.js';

const LIVE =
  'g.user_id = owner AND g.client_id = client AND g.revoked_at IS NULL AND g.expires_at > now() AND g.id <> newest';
const revokeExcess = (locking: string) => `
      WITH oldest AS (
        SELECT id FROM grants g WHERE ${LIVE} ORDER BY created_at
        LIMIT excess - cardinality(revoked) ${locking}
      ), ended AS (
        UPDATE grants g SET revoked_at = now(), revoked_for = 'limit' FROM oldest WHERE g.id = oldest.id RETURNING g.id
      )
      SELECT revoked || array_agg(id) INTO revoked FROM ended;`;

/**
 * Rejects the delete or disable while a grant is live. Revokes expired grants, which may still be in Redis.
 * @param condition SQL condition on grants
 * @param detail SQL expression
 */
const endGrantsFirst = (condition: string, detail: string): string => `
      ${REQUIRE_READ_COMMITTED}
      WITH expired AS (
        SELECT id FROM grants WHERE ${condition} AND revoked_at IS NULL AND expires_at <= now() ORDER BY id FOR NO KEY UPDATE
      )
      UPDATE grants g SET revoked_at = now() FROM expired WHERE g.id = expired.id;
      IF EXISTS (SELECT FROM grants WHERE ${condition} AND revoked_at IS NULL) THEN
        RAISE restrict_violation USING MESSAGE = 'user_grants_not_ended', DETAIL = ${detail};
      END IF;
      RETURN NULL;`;

/** Raises an error with an id. The foreign key also rejects the deletion, even while a grant is being recorded. */
const keepGrants = (condition: string, detail: string): string => `
    BEGIN
      IF EXISTS (SELECT FROM grants WHERE ${condition}) THEN
        RAISE restrict_violation USING MESSAGE = 'client_grants_recorded', DETAIL = ${detail};
      END IF;
      RETURN OLD;
    END`;

export const GRANTS: readonly string[] = [
  // No foreign key to users: grants outlive their user's row, because a revocation needs the record.
  // resources: APIs (RFC 8707), space-separated and sorted; empty for every API.
  // auth_time and session describe the login, for grants with the scope openid.
  // A use extends expires_at, but never beyond ends_at.
  `CREATE TABLE grants (
    id                    text PRIMARY KEY CHECK (id ~ '^[A-Za-z0-9_-]{43}$'),
    user_id               integer NOT NULL,
    client_id             text NOT NULL REFERENCES clients ON DELETE RESTRICT,
    scope                 text NOT NULL CHECK (char_length(scope) <= 1000),
    requested_scope       text NOT NULL CHECK (char_length(requested_scope) <= 1000),
    resources             text NOT NULL DEFAULT '' CHECK (char_length(resources) <= 255),
    auth_time             bigint,
    session               text CHECK (char_length(session) <= 64),
    created_at            timestamptz NOT NULL DEFAULT now(),
    lifetime              interval NOT NULL,
    expires_at            timestamptz NOT NULL,
    ends_at               timestamptz,
    last_used_on          date,
    revoked_at            timestamptz,
    revocation_applied_at timestamptz,
    revoked_for           text CHECK (revoked_for IN ('user', 'operator', 'application', 'account', 'declined', 'limit',
      'code_replayed', 'refresh_token_reused', 'verifier_mismatch')),
    CONSTRAINT grants_applied_after_revoked CHECK (revocation_applied_at IS NULL OR revoked_at IS NOT NULL)
  )`,
  // Each insertion, use and revocation of a grant writes every index without a condition. `revoked_at` comes last, so
  // that queries of live grants skip the entries of revoked ones. Indexes by time omit the id: few grants have the
  // same time. Without statistics, PostgreSQL prefers the newest of equally cheap indexes. Therefore the indexes by user
  // follow the indexes by client: a client may have millions of grants.
  'CREATE INDEX grants_client ON grants (client_id, created_at, revoked_at)',
  'CREATE INDEX grants_user ON grants (user_id, expires_at)',
  // Finds the clients that receive a logout token when a session ends (Back-Channel Logout 1.0).
  'CREATE INDEX grants_session ON grants (session) WHERE session IS NOT NULL',
  // Finds a user's live grants, and counts the grants to a client within a day, including revoked grants.
  'CREATE INDEX grants_user_client ON grants (user_id, client_id, created_at, revoked_at)',
  // Finds grants whose code may be unredeemed. See UNREDEEMED.
  `CREATE INDEX grants_unredeemed ON grants (created_at)
    WHERE last_used_on IS NULL AND revoked_at IS NULL AND expires_at > created_at`,
  // Outbox of revocations (docs/adr/0011-revocation-outbox.md): revocation_applied_at is null until Redis and every
  // cache have received the revocation.
  `CREATE INDEX grants_revocation_outstanding ON grants (revoked_at, id)
    WHERE revoked_at IS NOT NULL AND revocation_applied_at IS NULL`,
  `CREATE INDEX grants_revocation_applied ON grants (revocation_applied_at, id)
    WHERE revocation_applied_at IS NOT NULL`,
  // Creates a function that revokes a user's oldest live grants to a client until `most` remain, including the new
  // grant. VOLATILE, so that the function sees every grant committed before the caller locked the user. Skips locked
  // rows, because their holders may wait for rows that the caller has locked. Waits for locked rows only if too few
  // other rows are left.
  `CREATE FUNCTION revoke_oldest_grants(owner integer, client text, newest text, most integer) RETURNS text[]
    LANGUAGE plpgsql VOLATILE AS $$
    DECLARE
      excess integer := (
        SELECT count(*) FROM (SELECT FROM grants g WHERE ${LIVE} ORDER BY created_at DESC OFFSET most - 1) older
      );
      revoked text[] := '{}';
    BEGIN
      IF excess <= 0 THEN RETURN revoked; END IF;
      ${revokeExcess('FOR NO KEY UPDATE SKIP LOCKED')}
      IF excess > cardinality(revoked) THEN ${revokeExcess('FOR NO KEY UPDATE')} END IF;
      RETURN revoked;
    END $$`,
  // Keeps grants after the user's row is deleted, because a revocation needs the record. Triggers reject the deletion
  // or the disabling of a user with a live grant, even by plain SQL. A client's row cannot be deleted while grants to
  // the client are recorded. The message of an error is an id, and docs/deploy.md has the remedies.
  // Locks the user, so that a later delete or disable waits and sees the grant. Rejects a deleted or disabled user.
  ...trigger(`grants_need_user BEFORE INSERT OR UPDATE OF user_id ON grants FOR EACH ROW AS
    BEGIN
      PERFORM FROM users WHERE id = NEW.user_id AND disabled_at IS NULL FOR SHARE;
      IF NOT FOUND THEN
        RAISE foreign_key_violation USING MESSAGE = 'user_unknown_or_disabled', DETAIL = format('user %s', NEW.user_id);
      END IF;
      RETURN NEW;
    END`),
  // A process that may revoke grants may not revive them, because their users ended them.
  ...trigger(`grants_stay_revoked BEFORE UPDATE OF revoked_at ON grants FOR EACH ROW
    WHEN (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS NULL) AS
    BEGIN
      RAISE insufficient_privilege USING MESSAGE = 'grant_stays_revoked', DETAIL = format('grant %s', OLD.id);
    END`),
  // Runs after the row is locked and changed, so that the trigger sees grants committed while the statement waited.
  ...trigger(`users_end_grants_first AFTER DELETE OR UPDATE OF id, operator_disabled_at, product_disabled_at ON users FOR EACH ROW AS
    BEGIN
      IF TG_OP = 'UPDATE' AND NEW.id = OLD.id AND (NEW.disabled_at IS NULL OR OLD.disabled_at IS NOT NULL) THEN
        RETURN NULL;
      END IF;
      ${endGrantsFirst('user_id = OLD.id', "format('user %s', OLD.id)")}
    END`),
  ...trigger(`users_truncate_end_grants_first BEFORE TRUNCATE ON users FOR EACH STATEMENT AS
    BEGIN ${endGrantsFirst('true', "'any user'")} END`),
  // Runs after the insert, which waits for a concurrent delete of the previous row with this id.
  ...trigger(`users_inherit_no_grants AFTER INSERT OR UPDATE OF id ON users FOR EACH ROW AS
    BEGIN
      IF NEW.id IS DISTINCT FROM OLD.id AND EXISTS (SELECT FROM grants WHERE user_id = NEW.id) THEN
        RAISE unique_violation USING MESSAGE = 'user_id_has_grants', DETAIL = format('user %s', NEW.id);
      END IF;
      RETURN NULL;
    END`),
  ...trigger(`clients_keep_grants BEFORE DELETE ON clients FOR EACH ROW AS
    ${keepGrants('client_id = OLD.client_id', "format('client %s', OLD.client_id)")}`),
  ...trigger(`clients_truncate_keep_grants BEFORE TRUNCATE ON clients FOR EACH STATEMENT AS
    ${keepGrants('true', "'any client'")}`),
  // Records which token keys have signed, and until when live tokens may need them. Never stores the keys.
  `CREATE TABLE token_keys (
    id             text PRIMARY KEY,
    ring           text NOT NULL CHECK (ring IN ('token', 'RS256', 'ES256', 'EdDSA')),
    first_seen_at  timestamptz NOT NULL DEFAULT now(),
    last_signed_at timestamptz,
    needed_until   timestamptz,
    CONSTRAINT token_keys_id_check
      CHECK (id ~ CASE ring WHEN 'token' THEN '^[0-9a-f]{8}$' ELSE '^[A-Za-z0-9_-]{43}$' END)
  )`,
  'CREATE INDEX grants_newest ON grants (created_at) WHERE revoked_at IS NULL',
];
