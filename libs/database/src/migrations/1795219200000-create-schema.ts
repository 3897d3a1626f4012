import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createEvents, dropEvents } from './create-events.js';
import { createMails, dropMails } from './create-mails.js';
import { createOwners, dropOwners } from './create-owners.js';
import { createTriggerFunction, currentSchema } from './functions.js';

/** Creates the tables, and the triggers and functions that keep users, clients and grants consistent. */
export class CreateSchema1795219200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createSearch(runner);
    await createClients(runner);
    await createUsers(runner);
    await createInvitations(runner);
    await createGrants(runner);
    await limitGrants(runner);
    await createServerTables(runner);
    await retainGrants(runner);
    await createDeletedIdentities(runner);
    await createAuditIndex(runner);
    await createListIndexes(runner);
    await createEvents(runner);
    await createOwners(runner);
    await createMails(runner);
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropMails(runner);
    await dropOwners(runner);
    await dropEvents(runner);
    await runner.query(`
      DROP TABLE usage_days, refused_requests, audit_counts, audit_chunks, deleted_identities, token_keys, resource_servers, grants, console_invitations, users,
        client_logos, client_secrets, clients, subject_sectors`);
    await runner.query(`
      DROP FUNCTION revoke_oldest_grants, identity_was_deleted, deleted_identity, grants_need_user, grants_stay_revoked,
        users_end_grants_first,
        users_truncate_end_grants_first, users_inherit_no_grants, clients_keep_grants, clients_truncate_keep_grants, search_text`);
  }
}

const CLIENT_SEARCH = 'ARRAY[client_id, name] || redirect_uris || contacts';
const USER_SEARCH = 'ARRAY[username, email, name, external_id]';

/** Text in which the lists of operators search. PostgreSQL permits only immutable functions in an index. */
async function createSearch(runner: QueryRunner): Promise<void> {
  await runner.query(`
    CREATE FUNCTION search_text(parts text[]) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
      AS $$ SELECT lower(array_to_string(parts, E'\\n')) $$`);
}

/**
 * Lists are newest first. Records with the same time of creation are ordered by id. Without the extension pg_trgm,
 * which a role without the CREATE privilege on the database cannot install, a search reads all rows.
 */
async function createListIndexes(runner: QueryRunner): Promise<void> {
  await runner.query('CREATE INDEX clients_newest ON clients (created_at, client_id)');
  await runner.query('CREATE INDEX users_newest ON users (created_at, id)');
  await runner.query('CREATE INDEX users_disabled ON users (created_at, id) WHERE disabled_at IS NOT NULL');
  await runner.query('CREATE INDEX grants_newest ON grants (created_at, id) WHERE revoked_at IS NULL');
  const trigrams = await trigramOperators(runner);
  if (trigrams === null) return;
  await runner.query(
    `CREATE INDEX clients_search ON clients USING gin (search_text(${CLIENT_SEARCH}) ${trigrams})`,
  );
  await runner.query(
    `CREATE INDEX users_search ON users USING gin (search_text(${USER_SEARCH}) ${trigrams})`,
  );
}

/** Installs the extension if possible. @returns the operator class with its schema; null without the extension */
async function trigramOperators({ manager }: QueryRunner): Promise<string | null> {
  const [installable] = await manager.query<unknown[]>(
    `SELECT FROM pg_available_extensions WHERE name = 'pg_trgm' AND installed_version IS NULL
       AND has_database_privilege(current_database(), 'CREATE')`,
  );
  if (installable) await manager.query('CREATE EXTENSION pg_trgm');
  const [extension] = await manager.query<{ schema: string }[]>(
    `SELECT quote_ident(nspname) AS schema FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
     WHERE extname = 'pg_trgm'`,
  );
  return extension ? `${extension.schema}.gin_trgm_ops` : null;
}

async function createClients(runner: QueryRunner): Promise<void> {
  // Keys of pairwise subjects (OpenID Connect Core 8.1), which are never deleted, so that a client that registers again
  // gets the same subjects.
  await runner.query(`
    CREATE TABLE subject_sectors (
      sector text PRIMARY KEY CHECK (char_length(sector) BETWEEN 1 AND 255),
      key    bytea NOT NULL CHECK (octet_length(key) = 32)
    )`);
  // The row of a deleted client stays, so that its identifier cannot be assigned again, and because its grants record
  // revocations. The grants of a disabled client stay, but have no effect until the client is enabled
  // (docs/adr/0019-disabled-clients.md).
  // A client with client_credentials has no users. Its id is the subject of its tokens, and cannot be the id of a user.
  // A client with public keys (jwks or jwks_uri) has no secrets (docs/adr/0028-client-keys.md). Only the stores enforce
  // this rule.
  await runner.query(`
    CREATE TABLE clients (
      client_id       text PRIMARY KEY CHECK (client_id ~ '^[!-~]{1,255}$'),
      version         integer NOT NULL DEFAULT 1,
      name            text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
      name_skeleton   text,
      type            text NOT NULL CHECK (type IN ('confidential', 'public')),
      redirect_uris   text[] NOT NULL CHECK (cardinality(redirect_uris) <= 20),
      private_schemes text[] NOT NULL DEFAULT '{}',
      scopes          text[] NOT NULL DEFAULT '{profile:read}' CHECK (cardinality(scopes) BETWEEN 1 AND 100),
      optional_scopes text[] NOT NULL DEFAULT '{}',
      require_par     boolean NOT NULL DEFAULT false,
      require_state   boolean NOT NULL DEFAULT true,
      first_party     boolean NOT NULL DEFAULT false,
      developer_portal boolean NOT NULL DEFAULT false,
      stage           text NOT NULL DEFAULT 'live' CHECK (stage IN ('testing', 'live')),
      id_token_alg    text CHECK (id_token_alg IN ('RS256', 'ES256', 'EdDSA')),
      sector          text REFERENCES subject_sectors,
      post_logout_redirect_uris text[] NOT NULL DEFAULT '{}' CHECK (cardinality(post_logout_redirect_uris) <= 20),
      backchannel_logout_uri text CHECK (char_length(backchannel_logout_uri) <= 2000),
      client_uri      text,
      policy_uri      text,
      contacts        text[] NOT NULL DEFAULT '{}',
      jwks            json,
      jwks_uri        text CHECK (char_length(jwks_uri) <= 500),
      dpop_bound      boolean NOT NULL DEFAULT false,
      keeps_refresh_token boolean NOT NULL DEFAULT false,
      profile         text CHECK (profile IN ('fapi2')),
      grant_type      text NOT NULL DEFAULT 'authorization_code' CHECK (grant_type IN ('authorization_code', 'client_credentials')),
      device_grant    boolean NOT NULL DEFAULT false,
      document_due_at timestamptz,
      document_changed_at timestamptz,
      document_problem text,
      created_at      timestamptz NOT NULL DEFAULT now(),
      disabled_at     timestamptz,
      deleted_at      timestamptz,
      CONSTRAINT clients_document_check CHECK (num_nulls(document_due_at, document_changed_at) IN (0, 2)
        AND (document_due_at IS NULL OR (client_id ~ '^https?://' AND NOT first_party AND private_schemes = '{}' AND stage = 'live'))),
      CONSTRAINT clients_developer_portal_check CHECK (NOT developer_portal OR (type = 'confidential' AND stage = 'live'
        AND grant_type = 'authorization_code' AND document_due_at IS NULL)),
      CONSTRAINT clients_private_schemes_check CHECK (private_schemes = '{}' OR type = 'public'),
      CONSTRAINT clients_optional_scopes_check CHECK (optional_scopes <@ scopes),
      CONSTRAINT clients_kept_token_check CHECK (dpop_bound OR NOT keeps_refresh_token),
      CONSTRAINT clients_profile_rules_check CHECK (
        profile IS NULL OR (require_par AND keeps_refresh_token AND num_nonnulls(jwks, jwks_uri) = 1 AND NOT device_grant)),
      CONSTRAINT clients_keys_check CHECK (num_nonnulls(jwks, jwks_uri) <= CASE type WHEN 'public' THEN 0 ELSE 1 END),
      CONSTRAINT clients_grant_type_rules_check CHECK (CASE grant_type
        WHEN 'client_credentials' THEN client_id ~ '^sc_' AND num_nonnulls(jwks, jwks_uri) = 1 AND profile IS NULL
          AND redirect_uris = '{}' AND NOT device_grant AND optional_scopes = '{}' AND scopes <@ '{admin:read,admin:write,admin:operators}'
        ELSE (redirect_uris <> '{}' OR device_grant) AND NOT scopes && '{admin:read,admin:write,admin:operators}' END)
    )`);
  // A reviewer compares a name with every other name.
  await runner.query('CREATE INDEX clients_look_alike ON clients (name_skeleton)');
  // Every token app reads all disabled clients every few seconds.
  await runner.query('CREATE INDEX clients_disabled ON clients (client_id) WHERE disabled_at IS NOT NULL');
  await runner.query(`
    CREATE TABLE client_secrets (
      id           uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      client_id    text NOT NULL REFERENCES clients ON DELETE CASCADE,
      hash         bytea NOT NULL CHECK (octet_length(hash) = 32),
      created_at   timestamptz NOT NULL DEFAULT now(),
      last_used_at timestamptz,
      expires_at   timestamptz,
      revoked_at   timestamptz
    )`);
  await runner.query('CREATE INDEX client_secrets_client ON client_secrets (client_id)');
  await runner.query(
    'CREATE INDEX client_secrets_expiry ON client_secrets (expires_at) WHERE revoked_at IS NULL',
  );
  // The digest is not unique: two clients of one vendor may have the same image.
  await runner.query(`
    CREATE TABLE client_logos (
      client_id  text PRIMARY KEY REFERENCES clients ON DELETE CASCADE,
      digest     text NOT NULL,
      media_type text NOT NULL CHECK (media_type IN ('image/png', 'image/jpeg', 'image/webp')),
      image      bytea NOT NULL CHECK (octet_length(image) BETWEEN 1 AND 131072),
      CONSTRAINT client_logos_digest_check CHECK (digest = encode(sha256(image), 'hex'))
    )`);
  await runner.query('CREATE INDEX client_logos_digest ON client_logos (digest)');
}

async function createUsers(runner: QueryRunner): Promise<void> {
  // A user may have a password, an identity of the product (issuer and external_id), or both. Users with only an
  // identity cannot log in here by email or username, so several of them may share an email or a username.
  // Logins are compared by lower(). For ASCII usernames, lower() is the same under every collation except Turkic
  // collations. Unless the user has only an identity, a username that differs from the user's email has no '@', so
  // that it cannot pass for an email. Sessions store the user id and session_generation, which starts at a random
  // number: a deleted user's session stays invalid if the id is reused. Roles that may not read password hashes read
  // has_password.
  // external_updated_at is the time of the product's newest applied change; older changes are ignored. disabled_at is
  // generated from operator_disabled_at and product_disabled_at, so that no reader can overlook one of them.
  await runner.query(`
    CREATE TABLE users (
      id                   integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
      version              integer NOT NULL DEFAULT 1,
      username             text NOT NULL,
      email                text NOT NULL CHECK (email ~ '^[^@[:space:]]+@[^@[:space:]]+$' AND char_length(email) <= 254),
      email_verified       boolean NOT NULL DEFAULT false,
      name                 text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
      password_hash        text CHECK (password_hash ~ '^[$](argon2(id|i|d)|2[aby]|pbkdf2-sha(1|256|512)|scrypt)[$]' AND char_length(password_hash) <= 255),
      has_password         boolean NOT NULL GENERATED ALWAYS AS (password_hash IS NOT NULL) STORED,
      issuer               text CHECK (char_length(issuer) BETWEEN 1 AND 255),
      external_id          text CHECK (char_length(external_id) BETWEEN 1 AND 255),
      external_updated_at  timestamptz,
      avatar_url           text CHECK (char_length(avatar_url) <= 2000),
      bio                  text CHECK (char_length(bio) <= 2000),
      time_format          smallint NOT NULL DEFAULT 12 CHECK (time_format IN (12, 24)),
      default_schedule_id  integer,
      week_start           text NOT NULL DEFAULT 'Sunday' CHECK (week_start IN
        ('Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday')),
      time_zone            text NOT NULL DEFAULT 'UTC' CHECK (char_length(time_zone) BETWEEN 1 AND 64),
      organization_id      integer,
      locale               text CHECK (locale IN ('en', 'de', 'fr', 'es', 'pt', 'ja', 'ar')),
      session_generation   integer NOT NULL DEFAULT floor(random() * 1000000000),
      created_at           timestamptz NOT NULL DEFAULT now(),
      console_role         text CHECK (console_role IN ('viewer', 'support', 'admin')),
      operator_disabled_at timestamptz,
      product_disabled_at  timestamptz,
      disabled_at          timestamptz GENERATED ALWAYS AS (LEAST(operator_disabled_at, product_disabled_at)) STORED,
      CONSTRAINT users_identity_check CHECK ((issuer IS NULL) = (external_id IS NULL)),
      CONSTRAINT users_username_check CHECK (
        username ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' OR username = email OR (
          password_hash IS NULL AND issuer IS NOT NULL
            AND char_length(username) BETWEEN 1 AND 254 AND username !~ '[[:cntrl:]]'
        )
      )
    )`);
  await runner.query(
    'CREATE UNIQUE INDEX users_identity_unique ON users (issuer, external_id) WHERE issuer IS NOT NULL',
  );
  // Users without an identity are found by email and username, even without a password.
  for (const login of ['email', 'username'])
    await runner.query(`
      CREATE UNIQUE INDEX users_${login}_unique ON users (lower(${login}))
        WHERE has_password OR issuer IS NULL`);
  await runner.query('CREATE INDEX users_console_role ON users (id) WHERE console_role IS NOT NULL');
  // Finds other users with the same username.
  await runner.query('CREATE INDEX users_username ON users (lower(username))');
  // Finds one hash of each kind: a login verifies each hash, so that the duration does not depend on the
  // user. See PASSWORD_KIND.
  await runner.query(`
    CREATE INDEX users_password_kind ON users ((
      substring(password_hash from '^[$](?:2.[$])?((?:(?:argon2|pbkdf2|scrypt)[^$]*[$](?:v=[^$]+[$])?)?[^$]+)') COLLATE "C"
    )) WHERE password_hash IS NOT NULL`);
}

/** An address has at most one invitation. An accepted invitation is deleted. */
async function createInvitations(runner: QueryRunner): Promise<void> {
  await runner.query(`
    CREATE TABLE console_invitations (
      id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      email      text NOT NULL CHECK (email ~ '^[^@[:space:]]+@[^@[:space:]]+$' AND char_length(email) <= 254),
      role       text NOT NULL CHECK (role IN ('viewer', 'support', 'admin')),
      invited_by text NOT NULL,
      inviter    integer,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL
    )`);
  await runner.query(
    'CREATE UNIQUE INDEX console_invitations_email ON console_invitations (lower(email COLLATE "C"))',
  );
}

async function createGrants(runner: QueryRunner): Promise<void> {
  // No foreign key to users: grants outlive their user's row (retainGrants).
  // resources: APIs (RFC 8707), space-separated and sorted; empty for every API.
  // auth_time and session describe the login, for grants with the scope openid.
  // A use extends expires_at, but never beyond ends_at.
  await runner.query(`
    CREATE TABLE grants (
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
    )`);
  // Without statistics, PostgreSQL prefers the newest of equally cheap indexes: those of one user come after those of
  // a client, which may have millions of grants.
  await runner.query(`
    CREATE INDEX grants_client_newest ON grants (client_id, created_at, id) WHERE revoked_at IS NULL`);
  await runner.query('CREATE INDEX grants_user ON grants (user_id, expires_at)');
  await runner.query('CREATE INDEX grants_client ON grants (client_id, created_at, id)');
  // Finds the clients that receive a logout token when a session ends (Back-Channel Logout 1.0).
  await runner.query('CREATE INDEX grants_session ON grants (session) WHERE session IS NOT NULL');
  // Counts a user's grants to a client within a day, including revoked grants.
  await runner.query('CREATE INDEX grants_user_client ON grants (user_id, client_id, created_at)');
  // Finds a user's live grants, to one client or to all clients, without reading revoked grants.
  await runner.query(`
    CREATE INDEX grants_live ON grants (user_id, client_id, created_at) WHERE revoked_at IS NULL`);
  // Finds grants whose code may be unredeemed. See UNREDEEMED.
  await runner.query(`
    CREATE INDEX grants_unredeemed ON grants (created_at, id)
      WHERE last_used_on IS NULL AND revoked_at IS NULL AND expires_at > created_at`);
  // Outbox of revocations (docs/adr/0011-revocation-outbox.md): revocation_applied_at is null until Redis and every
  // cache have received the revocation.
  await runner.query(`
    CREATE INDEX grants_revocation_outstanding ON grants (revoked_at, id)
      WHERE revoked_at IS NOT NULL AND revocation_applied_at IS NULL`);
  await runner.query(`
    CREATE INDEX grants_revocation_applied ON grants (revocation_applied_at, id)
      WHERE revocation_applied_at IS NOT NULL`);
}

/**
 * Creates a function that revokes a user's oldest live grants to a client until `most` remain, including the new grant.
 * VOLATILE, so that the function sees every grant committed before the caller locked the user. Skips locked rows,
 * because their holders may wait for rows that the caller has locked. Waits for locked rows only if too few other rows
 * are left.
 */
async function limitGrants(runner: QueryRunner): Promise<void> {
  const live = `g.user_id = owner AND g.client_id = client AND g.revoked_at IS NULL AND g.expires_at > now() AND g.id <> newest`;
  const revokeExcess = (locking: string) => `
          WITH oldest AS (
            SELECT id FROM grants g WHERE ${live} ORDER BY created_at
            LIMIT excess - cardinality(revoked) ${locking}
          ), ended AS (
            UPDATE grants g SET revoked_at = now(), revoked_for = 'limit' FROM oldest WHERE g.id = oldest.id RETURNING g.id
          )
          SELECT revoked || array_agg(id) INTO revoked FROM ended;`;
  await runner.query(`
    CREATE FUNCTION revoke_oldest_grants(owner integer, client text, newest text, most integer) RETURNS text[]
      LANGUAGE plpgsql VOLATILE AS $$
      DECLARE
        excess integer := (
          SELECT count(*) FROM (SELECT FROM grants g WHERE ${live} ORDER BY created_at DESC OFFSET most - 1) older
        );
        revoked text[] := '{}';
      BEGIN
        IF excess <= 0 THEN RETURN revoked; END IF;
        ${revokeExcess('FOR NO KEY UPDATE SKIP LOCKED')}
        IF excess > cardinality(revoked) THEN ${revokeExcess('FOR NO KEY UPDATE')} END IF;
        RETURN revoked;
      END $$`);
}

async function createServerTables(runner: QueryRunner): Promise<void> {
  // Accounts of the APIs that may introspect tokens over HTTP (RFC 7662 2.1).
  await runner.query(`
    CREATE TABLE resource_servers (
      id          text PRIMARY KEY CHECK (id ~ '^rs_[a-z2-7]{24}$'),
      version     integer NOT NULL DEFAULT 1,
      name        text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
      secret_hash bytea CHECK (octet_length(secret_hash) = 32),
      jwks        json,
      jwks_uri    text CHECK (char_length(jwks_uri) <= 500),
      created_at  timestamptz NOT NULL DEFAULT now(),
      revoked_at  timestamptz,
      CONSTRAINT resource_servers_method_check CHECK (num_nonnulls(secret_hash, jwks, jwks_uri) = 1)
    )`);
  // Records which token keys have signed, and until when live tokens may need them. Never stores the keys.
  await runner.query(`
    CREATE TABLE token_keys (
      id             text PRIMARY KEY,
      ring           text NOT NULL CHECK (ring IN ('token', 'RS256', 'ES256', 'EdDSA')),
      first_seen_at  timestamptz NOT NULL DEFAULT now(),
      last_signed_at timestamptz,
      needed_until   timestamptz,
      CONSTRAINT token_keys_id_check
        CHECK (id ~ CASE ring WHEN 'token' THEN '^[0-9a-f]{8}$' ELSE '^[A-Za-z0-9_-]{43}$' END)
    )`);
}

/** Creates the index of the audit trail in NATS: positions and numbers of events. Only the console writes it. */
async function createAuditIndex(runner: QueryRunner): Promise<void> {
  await runner.query(`
    CREATE TABLE audit_chunks (
      stream          text NOT NULL,
      stream_created  text NOT NULL,
      last_sequence   bigint NOT NULL,
      first_sequence  bigint NOT NULL,
      first_stored_at timestamptz NOT NULL,
      last_stored_at  timestamptz NOT NULL,
      oldest_event_at timestamptz NOT NULL,
      filter          bytea NOT NULL,
      PRIMARY KEY (stream, stream_created, last_sequence)
    )`);
  // Stores the filter in the row, although each page then holds one row: reading a TOAST table takes ten times as long.
  await runner.query('ALTER TABLE audit_chunks ALTER COLUMN filter SET STORAGE MAIN');
  for (const end of ['first', 'last'])
    await runner.query(`CREATE INDEX audit_chunks_${end}_stored ON audit_chunks (${end}_stored_at)`);
  await runner.query(`
    CREATE TABLE audit_counts (
      client_id text NOT NULL,
      hour      timestamptz NOT NULL,
      type      text NOT NULL,
      "check"   text NOT NULL,
      error     text NOT NULL,
      count     integer NOT NULL,
      first_at  timestamptz NOT NULL,
      last_at   timestamptz NOT NULL,
      reference text,
      PRIMARY KEY (client_id, hour, type, "check", error)
    )`);
  await runner.query('CREATE INDEX audit_counts_hour ON audit_counts (hour)');
  // Finds the refusals of the last day among the other events.
  await runner.query(`
    CREATE INDEX audit_counts_refusals ON audit_counts (hour) WHERE "check" <> '' OR error <> ''`);
  await runner.query(`
    CREATE TABLE refused_requests (
      id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      client_id   text NOT NULL,
      event       text NOT NULL,
      at          timestamptz NOT NULL,
      reference   text,
      cause       text NOT NULL,
      error       text NOT NULL,
      status      integer,
      request     text,
      description text NOT NULL,
      detail      jsonb NOT NULL
    )`);
  await runner.query('CREATE UNIQUE INDEX refused_requests_event ON refused_requests (client_id, event)');
  await runner.query('CREATE INDEX refused_requests_client ON refused_requests (client_id, at, id)');
  await runner.query('CREATE INDEX refused_requests_cause ON refused_requests (client_id, cause, at, id)');
  // The reference first, because a policy makes the planner estimate one row for each index that begins with client_id.
  await runner.query('CREATE INDEX refused_requests_reference ON refused_requests (reference, client_id)');
  await runner.query('CREATE INDEX refused_requests_at ON refused_requests (at)');
  // One row per day in UTC, whose last count is at `counted_at`.
  await runner.query(`
    CREATE TABLE usage_days (
      day            date PRIMARY KEY,
      live_grants    integer NOT NULL,
      active_clients integer NOT NULL,
      counted_at     timestamptz NOT NULL
    )`);
  // Finds hours that are not merged yet. The row of a whole day is at the first hour of the day.
  await runner.query(`
    CREATE INDEX audit_counts_later_hours ON audit_counts (hour) WHERE (hour AT TIME ZONE 'UTC')::time <> '00:00'`);
}

/**
 * Keeps grants after the user's row is deleted, because a revocation needs the record. Triggers reject the deletion or
 * the disabling of a user with a live grant, even by plain SQL. A client's row cannot be deleted while grants to the
 * client are recorded. The message of an error is an id, and docs/deploy.md has the remedies.
 */
async function retainGrants(runner: QueryRunner): Promise<void> {
  await createTriggerFunction(runner, 'grants_need_user', NEED_USER);
  await runner.query(`
    CREATE TRIGGER grants_need_user BEFORE INSERT OR UPDATE OF user_id ON grants
      FOR EACH ROW EXECUTE FUNCTION grants_need_user()`);
  await createTriggerFunction(runner, 'grants_stay_revoked', STAY_REVOKED);
  await runner.query(`
    CREATE TRIGGER grants_stay_revoked BEFORE UPDATE OF revoked_at ON grants
      FOR EACH ROW WHEN (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS NULL) EXECUTE FUNCTION grants_stay_revoked()`);
  await createTriggerFunction(runner, 'users_end_grants_first', ROW_ENDS_GRANTS_FIRST);
  await runner.query(`
    CREATE TRIGGER users_end_grants_first AFTER DELETE OR UPDATE OF id, operator_disabled_at, product_disabled_at ON users
      FOR EACH ROW EXECUTE FUNCTION users_end_grants_first()`);
  await createTriggerFunction(runner, 'users_truncate_end_grants_first', TRUNCATE_ENDS_GRANTS_FIRST);
  await runner.query(`
    CREATE TRIGGER users_truncate_end_grants_first BEFORE TRUNCATE ON users
      FOR EACH STATEMENT EXECUTE FUNCTION users_truncate_end_grants_first()`);
  await createTriggerFunction(runner, 'users_inherit_no_grants', INHERIT_NO_GRANTS);
  await runner.query(`
    CREATE TRIGGER users_inherit_no_grants AFTER INSERT OR UPDATE OF id ON users
      FOR EACH ROW EXECUTE FUNCTION users_inherit_no_grants()`);
  await createTriggerFunction(runner, 'clients_keep_grants', CLIENT_KEEPS_GRANTS);
  await runner.query(`
    CREATE TRIGGER clients_keep_grants BEFORE DELETE ON clients
      FOR EACH ROW EXECUTE FUNCTION clients_keep_grants()`);
  await createTriggerFunction(runner, 'clients_truncate_keep_grants', TRUNCATE_KEEPS_GRANTS);
  await runner.query(`
    CREATE TRIGGER clients_truncate_keep_grants BEFORE TRUNCATE ON clients
      FOR EACH STATEMENT EXECUTE FUNCTION clients_truncate_keep_grants()`);
}

/** Stores hashes of deleted identities, so that a change made before the deletion does not create the user again. */
async function createDeletedIdentities(runner: QueryRunner): Promise<void> {
  await runner.query(`
    CREATE TABLE deleted_identities (
      identity   bytea PRIMARY KEY CHECK (octet_length(identity) = 32),
      deleted_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL DEFAULT now() + interval '90 days'
    )`);
  await runner.query('CREATE INDEX deleted_identities_expiry ON deleted_identities (expires_at)');
  const schema = await currentSchema(runner);
  await runner.query(`
    CREATE FUNCTION deleted_identity(issuer text, external_id text) RETURNS bytea
      LANGUAGE sql STABLE STRICT
      AS $$ SELECT sha256(convert_to(issuer || E'\\n' || external_id, 'UTF8')) $$`);
  // VOLATILE, so that the query sees deletions committed while the function waited for the lock.
  await runner.query(`
    CREATE FUNCTION identity_was_deleted(issuer text, external_id text, since timestamptz) RETURNS boolean
      LANGUAGE plpgsql VOLATILE STRICT SET search_path = ${schema}, pg_temp
      AS $$ BEGIN
        PERFORM pg_advisory_xact_lock_shared(hashtextextended(issuer || E'\\n' || external_id, 0));
        RETURN EXISTS (
          SELECT FROM deleted_identities d WHERE d.identity = deleted_identity(issuer, external_id) AND d.deleted_at >= since
        );
      END $$`);
}

/** A process that may revoke grants may not revive them, because their users ended them. */
const STAY_REVOKED = `
  BEGIN
    RAISE insufficient_privilege USING MESSAGE = 'grant_stays_revoked', DETAIL = format('grant %s', OLD.id);
  END`;

/** Locks the user, so that a later delete or disable waits and sees the grant. Rejects a deleted or disabled user. */
const NEED_USER = `
  BEGIN
    PERFORM FROM users WHERE id = NEW.user_id AND disabled_at IS NULL FOR SHARE;
    IF NOT FOUND THEN
      RAISE foreign_key_violation USING MESSAGE = 'user_unknown_or_disabled', DETAIL = format('user %s', NEW.user_id);
    END IF;
    RETURN NEW;
  END`;

/**
 * Rejects the delete or disable while a grant is live. Revokes expired grants, which may still be in Redis. A stricter
 * isolation level might not see a grant that was recorded after the transaction began.
 * @param condition SQL condition on grants
 * @param detail SQL expression
 */
const endGrantsFirst = (condition: string, detail: string): string => `
    IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
      RAISE feature_not_supported USING
        MESSAGE = 'isolation_level_not_read_committed', DETAIL = current_setting('transaction_isolation');
    END IF;
    WITH expired AS (
      SELECT id FROM grants WHERE ${condition} AND revoked_at IS NULL AND expires_at <= now() ORDER BY id FOR NO KEY UPDATE
    )
    UPDATE grants g SET revoked_at = now() FROM expired WHERE g.id = expired.id;
    IF EXISTS (SELECT FROM grants WHERE ${condition} AND revoked_at IS NULL) THEN
      RAISE restrict_violation USING MESSAGE = 'user_grants_not_ended', DETAIL = ${detail};
    END IF;
    RETURN NULL;`;

/** Runs after the row is locked and changed, so that the trigger sees grants committed while the statement waited. */
const ROW_ENDS_GRANTS_FIRST = `
  BEGIN
    IF TG_OP = 'UPDATE' AND NEW.id = OLD.id AND (NEW.disabled_at IS NULL OR OLD.disabled_at IS NOT NULL) THEN
      RETURN NULL;
    END IF;
    ${endGrantsFirst('user_id = OLD.id', "format('user %s', OLD.id)")}
  END`;

const TRUNCATE_ENDS_GRANTS_FIRST = `BEGIN ${endGrantsFirst('true', "'any user'")} END`;

/** Runs after the insert, which waits for a concurrent delete of the previous row with this id. */
const INHERIT_NO_GRANTS = `
  BEGIN
    IF NEW.id IS DISTINCT FROM OLD.id AND EXISTS (SELECT FROM grants WHERE user_id = NEW.id) THEN
      RAISE unique_violation USING MESSAGE = 'user_id_has_grants', DETAIL = format('user %s', NEW.id);
    END IF;
    RETURN NULL;
  END`;

/** Raises an error with an id. The foreign key also rejects the deletion, even while a grant is being recorded. */
const keepGrants = (condition: string, detail: string): string => `
  BEGIN
    IF EXISTS (SELECT FROM grants WHERE ${condition}) THEN
      RAISE restrict_violation USING MESSAGE = 'client_grants_recorded', DETAIL = ${detail};
    END IF;
    RETURN OLD;
  END`;

const CLIENT_KEEPS_GRANTS = keepGrants('client_id = OLD.client_id', "format('client %s', OLD.client_id)");
const TRUNCATE_KEEPS_GRANTS = keepGrants('true', "'any client'");
