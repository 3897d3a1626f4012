import { definerFunction, trigger } from './statements.js';

/**
 * Streams and outbox of security events. Triggers record the events, so that an event belongs to the transaction that
 * causes it (docs/adr/0050-outbox-of-events.md).
 */
export const EVENTS: readonly string[] = [
  // A client has at most one stream of security events, which it manages itself, and one of logout tokens, which has
  // the address of the client's registration. `authorization_header` is encrypted with a subkey of TOKEN_KEYS. A worker
  // holds the stream until `leased_until`; `due_at` is the time of the next attempt.
  `CREATE TABLE event_streams (
    id                   uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    client_id            text NOT NULL REFERENCES clients ON DELETE CASCADE,
    delivery             text NOT NULL CHECK (delivery IN ('push', 'poll', 'logout')),
    endpoint_url         text CHECK (char_length(endpoint_url) <= 2000),
    authorization_header bytea,
    events_requested     text[] NOT NULL CHECK (cardinality(events_requested) <= 50),
    description          text CHECK (char_length(description) <= 255),
    status               text NOT NULL DEFAULT 'enabled' CHECK (status IN ('enabled', 'paused', 'disabled')),
    status_reason        text CHECK (char_length(status_reason) <= 255),
    failing_since        timestamptz,
    failures             integer NOT NULL DEFAULT 0,
    slow                 boolean NOT NULL DEFAULT false,
    due_at               timestamptz NOT NULL DEFAULT now(),
    leased_until         timestamptz NOT NULL DEFAULT '-infinity',
    verified_at          timestamptz NOT NULL DEFAULT '-infinity',
    created_at           timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT event_streams_receiver_check CHECK ((delivery = 'poll') = (endpoint_url IS NULL)
      AND (delivery = 'push' OR authorization_header IS NULL))
  )`,
  "CREATE UNIQUE INDEX event_streams_client ON event_streams (client_id) WHERE delivery <> 'logout'",
  "CREATE UNIQUE INDEX event_streams_logout ON event_streams (client_id) WHERE delivery = 'logout'",
  // The policy of the portal reads the streams of its user's applications, which the partial indexes cannot find.
  'CREATE INDEX event_streams_owned ON event_streams (client_id)',
  // Removed subjects, by their `sub` for this client.
  `CREATE TABLE event_stream_subjects (
    stream_id uuid REFERENCES event_streams ON DELETE CASCADE,
    subject   text CHECK (char_length(subject) <= 255),
    PRIMARY KEY (stream_id, subject)
  )`,
  `CREATE TABLE events (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    stream_id   uuid NOT NULL REFERENCES event_streams ON DELETE CASCADE,
    jti         uuid NOT NULL DEFAULT gen_random_uuid(),
    type        text NOT NULL,
    user_id     integer,
    details     jsonb NOT NULL DEFAULT '{}',
    txn         uuid NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    attempts    integer NOT NULL DEFAULT 0,
    answer      text CHECK (char_length(answer) <= 255),
    outcome     text CHECK (outcome IN ('delivered', 'refused', 'excluded', 'expired')),
    finished_at timestamptz,
    CONSTRAINT events_finished_check CHECK ((outcome IS NULL) = (finished_at IS NULL))
  )`,
  'CREATE INDEX events_outstanding ON events (stream_id, id) WHERE outcome IS NULL',
  'CREATE INDEX events_about_client ON events (stream_id) WHERE outcome IS NULL AND user_id IS NULL',
  'CREATE INDEX events_stream ON events (stream_id, id)',
  'CREATE UNIQUE INDEX events_jti ON events (jti)',
  'CREATE INDEX events_age ON events (created_at)',
  // `txn` joins the events of one cause for one client. Two clients must not recognize a user by an equal value.
  ...definerFunction(`event_cause() RETURNS text AS
    BEGIN
      RETURN set_config('oauth.event_cause',
        coalesce(nullif(current_setting('oauth.event_cause', true), ''), gen_random_uuid()::text), true);
    END`),
  ...definerFunction(`record_events(kind text, receivers text[], owner integer, about jsonb) RETURNS void AS
    DECLARE
      cause text := event_cause();
    BEGIN
      INSERT INTO events (stream_id, type, user_id, details, txn)
      SELECT s.id, kind, owner, about, md5(cause || s.id)::uuid FROM event_streams s
      WHERE s.client_id = ANY (receivers) AND kind = ANY (s.events_requested) AND s.status <> 'disabled';
    END`),
  // Records revocations with their causes. Runs once for each statement, because a statement may revoke thousands.
  // EXECUTE plans the insertion for their number: the plan for one revocation would compare every pair of thousands.
  ...trigger(`grants_record_events AFTER UPDATE ON grants REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT AS
    BEGIN
      IF EXISTS (SELECT FROM after g JOIN event_streams s ON s.client_id = g.client_id WHERE g.revoked_at IS NOT NULL) THEN
        EXECUTE $insertion$
          INSERT INTO events (stream_id, type, user_id, details, txn)
          SELECT s.id, 'tokens-revoked', g.user_id,
            jsonb_strip_nulls(jsonb_build_object('grant_id', g.id, 'reason', g.revoked_for)), md5($1 || s.id)::uuid
          FROM after g
          JOIN before b ON b.id = g.id AND b.revoked_at IS NULL
          JOIN event_streams s ON s.client_id = g.client_id AND 'tokens-revoked' = ANY (s.events_requested)
            AND s.status <> 'disabled'
          WHERE g.revoked_at IS NOT NULL
        $insertion$ USING event_cause();
      END IF;
      RETURN NULL;
    END`),
  // Creates a function that records the end of sessions and the logout tokens (OpenID Connect Back-Channel Logout 1.0
  // 2.5) for the clients with an ID token of a session, or of any session of a user. Includes ended grants, because
  // clients may keep their ID tokens, but not grants whose code expired without a redemption.
  // An ended session, or all sessions of a user, until the token app has voided their codes.
  `CREATE TABLE ended_sessions (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session  text,
    user_id  integer,
    ended_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT ended_sessions_check CHECK ((session IS NULL) <> (user_id IS NULL))
  )`,
  ...definerFunction(`record_logouts(ended text, owner integer) RETURNS void AS
    BEGIN
      INSERT INTO events (stream_id, type, user_id, details, txn)
      SELECT s.id, 'logout', g.user_id, jsonb_strip_nulls(jsonb_build_object('session', ended)), gen_random_uuid()
      FROM (
        SELECT DISTINCT client_id, user_id FROM grants
        WHERE (session = ended OR user_id = owner) AND session IS NOT NULL
          AND 'openid' = ANY (string_to_array(scope, ' ')) AND (last_used_on IS NOT NULL OR expires_at > created_at)
      ) g
      JOIN event_streams s ON s.client_id = g.client_id AND s.delivery = 'logout'
      JOIN clients c ON c.client_id = g.client_id AND c.disabled_at IS NULL;
      INSERT INTO ended_sessions (session, user_id) SELECT ended, owner
      WHERE ended IS NOT NULL OR EXISTS (SELECT FROM grants WHERE user_id = owner AND session IS NOT NULL);
    END`),
  // Records changes of a user for the clients with a live grant of the user, or with a grant that ended with the
  // change. A password that is only hashed again keeps the sessions. Names no columns, so that an operator can change
  // the collation of one.
  ...definerFunction(`event_receivers(owner integer, since timestamptz, needed text) RETURNS text[] AS
    BEGIN
      RETURN ARRAY(
        SELECT DISTINCT g.client_id FROM grants g
        WHERE g.user_id = owner AND (g.revoked_at >= since OR g.revoked_at IS NULL AND g.expires_at > now())
          AND (needed IS NULL OR needed = ANY (string_to_array(g.scope, ' '))));
    END`),
  ...trigger(`users_record_events AFTER DELETE OR UPDATE ON users FOR EACH ROW AS
    DECLARE
      wasEnabled boolean := OLD.disabled_at IS NULL;
    BEGIN
      IF wasEnabled AND (TG_OP = 'DELETE' OR NEW.disabled_at IS NOT NULL
          OR NEW.session_generation <> OLD.session_generation) THEN
        PERFORM record_logouts(NULL, OLD.id);
      END IF;
      IF TG_OP = 'DELETE' THEN
        PERFORM record_events('account-purged', event_receivers(OLD.id, coalesce(OLD.disabled_at, now()), NULL), OLD.id, '{}');
        RETURN NULL;
      END IF;
      IF wasEnabled AND NEW.disabled_at IS NOT NULL THEN
        PERFORM record_events('account-disabled', event_receivers(OLD.id, now(), NULL), OLD.id, '{}');
      ELSIF NOT wasEnabled AND NEW.disabled_at IS NULL THEN
        PERFORM record_events('account-enabled', event_receivers(OLD.id, OLD.disabled_at, NULL), OLD.id, '{}');
      ELSIF NEW.session_generation <> OLD.session_generation THEN
        IF NEW.password_hash IS DISTINCT FROM OLD.password_hash THEN
          PERFORM record_events('credential-change', event_receivers(OLD.id, now(), NULL), OLD.id,
            jsonb_build_object('change_type', CASE WHEN OLD.password_hash IS NULL THEN 'create'
              WHEN NEW.password_hash IS NULL THEN 'delete' ELSE 'update' END));
        END IF;
        PERFORM record_events('session-revoked', event_receivers(OLD.id, now(), NULL), OLD.id, '{}');
      END IF;
      IF lower(NEW.email) <> lower(OLD.email) THEN
        PERFORM record_events('identifier-changed', event_receivers(OLD.id, now(), 'email'), OLD.id, '{}');
      END IF;
      RETURN NULL;
    END`),
  // A changed address is tried immediately.
  ...trigger(`clients_logout_stream AFTER INSERT OR UPDATE OF backchannel_logout_uri ON clients FOR EACH ROW AS
    BEGIN
      IF NEW.backchannel_logout_uri IS NULL THEN
        DELETE FROM event_streams WHERE client_id = NEW.client_id AND delivery = 'logout';
      ELSE
        INSERT INTO event_streams AS s (client_id, delivery, endpoint_url, events_requested)
        VALUES (NEW.client_id, 'logout', NEW.backchannel_logout_uri, '{}')
        ON CONFLICT (client_id) WHERE delivery = 'logout' DO UPDATE
        SET endpoint_url = excluded.endpoint_url, status = 'enabled', status_reason = NULL, failing_since = NULL,
            failures = 0, due_at = now()
        WHERE s.endpoint_url <> excluded.endpoint_url;
      END IF;
      RETURN NULL;
    END`),
  ...trigger(`clients_record_events AFTER UPDATE OF disabled_at, deleted_at, jwks, jwks_uri ON clients FOR EACH ROW AS
    BEGIN
      IF NEW.deleted_at IS NOT NULL THEN
        DELETE FROM event_streams WHERE client_id = NEW.client_id;
        RETURN NULL;
      END IF;
      IF (OLD.disabled_at IS NULL) <> (NEW.disabled_at IS NULL) THEN
        PERFORM record_events(CASE WHEN NEW.disabled_at IS NULL THEN 'client-enabled' ELSE 'client-disabled' END,
          ARRAY[NEW.client_id], NULL, '{}');
      END IF;
      IF NEW.jwks::text IS DISTINCT FROM OLD.jwks::text OR NEW.jwks_uri IS DISTINCT FROM OLD.jwks_uri THEN
        PERFORM record_events('client-credential-changed', ARRAY[NEW.client_id], NULL, '{"change_type": "update"}');
      END IF;
      RETURN NULL;
    END`),
  ...trigger(`client_secrets_record_events AFTER INSERT OR DELETE OR UPDATE OF revoked_at ON client_secrets FOR EACH ROW AS
    BEGIN
      PERFORM record_events('client-credential-changed', ARRAY[coalesce(NEW.client_id, OLD.client_id)], NULL,
        jsonb_build_object('change_type', CASE TG_OP WHEN 'INSERT' THEN 'create' ELSE 'revoke' END));
      RETURN NULL;
    END`),
];
