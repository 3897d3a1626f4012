export const CLIENTS: readonly string[] = [
  // Text in which the lists of operators search. PostgreSQL permits only immutable functions in an index.
  `CREATE FUNCTION search_text(parts text[]) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT lower(array_to_string(parts, E'\\n')) $$`,
  // Keys of pairwise subjects (OpenID Connect Core 8.1), which are never deleted, so that a client that registers again
  // gets the same subjects.
  `CREATE TABLE subject_sectors (
    sector text PRIMARY KEY CHECK (char_length(sector) BETWEEN 1 AND 255),
    key    bytea NOT NULL CHECK (octet_length(key) = 32)
  )`,
  // The row of a deleted client stays, so that its identifier cannot be assigned again, and because its grants record
  // revocations. The grants of a disabled client stay, but have no effect until the client is enabled
  // (docs/adr/0019-disabled-clients.md).
  // A client with client_credentials has no users. Its id is the subject of its tokens, and cannot be the id of a user.
  // A client with public keys (jwks or jwks_uri) has no secrets (docs/adr/0028-client-keys.md). Only the stores enforce
  // this rule.
  `CREATE TABLE clients (
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
  )`,
  // A reviewer compares a name with every other name.
  'CREATE INDEX clients_look_alike ON clients (name_skeleton)',
  // Every token app reads all disabled clients every few seconds.
  'CREATE INDEX clients_disabled ON clients (client_id) WHERE disabled_at IS NOT NULL',
  `CREATE TABLE client_secrets (
    id           uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    client_id    text NOT NULL REFERENCES clients ON DELETE CASCADE,
    hash         bytea NOT NULL CHECK (octet_length(hash) = 32),
    created_at   timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz,
    expires_at   timestamptz,
    revoked_at   timestamptz
  )`,
  'CREATE INDEX client_secrets_client ON client_secrets (client_id)',
  'CREATE INDEX client_secrets_expiry ON client_secrets (expires_at) WHERE revoked_at IS NULL',
  // The digest is not unique: two clients of one vendor may have the same image.
  `CREATE TABLE client_logos (
    client_id  text PRIMARY KEY REFERENCES clients ON DELETE CASCADE,
    digest     text NOT NULL,
    media_type text NOT NULL CHECK (media_type IN ('image/png', 'image/jpeg', 'image/webp')),
    image      bytea NOT NULL CHECK (octet_length(image) BETWEEN 1 AND 131072),
    CONSTRAINT client_logos_digest_check CHECK (digest = encode(sha256(image), 'hex'))
  )`,
  'CREATE INDEX client_logos_digest ON client_logos (digest)',
  // Accounts of the APIs that may introspect tokens over HTTP (RFC 7662 2.1).
  `CREATE TABLE resource_servers (
    id          text PRIMARY KEY CHECK (id ~ '^rs_[a-z2-7]{24}$'),
    version     integer NOT NULL DEFAULT 1,
    name        text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    secret_hash bytea CHECK (octet_length(secret_hash) = 32),
    jwks        json,
    jwks_uri    text CHECK (char_length(jwks_uri) <= 500),
    created_at  timestamptz NOT NULL DEFAULT now(),
    revoked_at  timestamptz,
    CONSTRAINT resource_servers_method_check CHECK (num_nonnulls(secret_hash, jwks, jwks_uri) = 1)
  )`,
  // Lists are newest first. Records with the same time of creation are ordered by id.
  'CREATE INDEX clients_newest ON clients (created_at, client_id)',
];
