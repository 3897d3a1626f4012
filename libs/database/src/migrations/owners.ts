import { BY_OPERATOR } from '#events/event-stream.entity.js';
import { OWNER_LIMITS } from '#clients/owners/owner-limits.statements.js';
import { definerFunction, REQUIRE_READ_COMMITTED, trigger } from './statements.js';

const IDENTIFYING = 'LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER SET search_path FROM CURRENT';
const REVISE = `UPDATE client_requests SET status = status WHERE client_id = NEW.client_id AND status IN ('submitted', 'question')`;

/** @param event `name` and event of triggers that execute `client_members_name` */
const memberTriggers = (event: string, tables: readonly string[] = ['client_owners', 'client_testers']) =>
  tables.map(
    (table) =>
      `CREATE TRIGGER ${table}_${event} ON ${table} FOR EACH ROW EXECUTE FUNCTION client_members_${event.split(' ', 1)[0]}()`,
  );

/**
 * Owners, testers, requests and history of applications. Row-level security lets the portal read and write only what
 * the user of the current transaction owns (docs/adr/0055-rights-of-the-portal.md).
 */
export const OWNERS: readonly string[] = [
  `CREATE TABLE client_owners (
    client_id text NOT NULL REFERENCES clients ON DELETE CASCADE,
    user_id   integer NOT NULL REFERENCES users ON DELETE CASCADE,
    added_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (client_id, user_id)
  )`,
  'CREATE INDEX client_owners_user ON client_owners (user_id)',
  `CREATE TABLE client_testers (
    client_id   text NOT NULL REFERENCES clients ON DELETE CASCADE,
    user_id     integer NOT NULL REFERENCES users ON DELETE CASCADE,
    accepted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (client_id, user_id)
  )`,
  'CREATE INDEX client_testers_user ON client_testers (user_id)',
  `CREATE TABLE client_invitations (
    id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    client_id  text NOT NULL REFERENCES clients ON DELETE CASCADE,
    kind       text NOT NULL CHECK (kind IN ('owner', 'tester')),
    token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    invited_by integer NOT NULL REFERENCES users ON DELETE CASCADE,
    email      text CHECK (email ~ '^[^@[:space:]]+@[^@[:space:]]+$' AND char_length(email) <= 254),
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
  )`,
  'CREATE INDEX client_invitations_client ON client_invitations (client_id)',
  'CREATE INDEX client_invitations_user ON client_invitations (invited_by)',
  // A registration has no client until it is submitted. Users may be deleted while other owners continue the request.
  `CREATE TABLE client_requests (
    id           uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    version      integer NOT NULL DEFAULT 1,
    client_id    text REFERENCES clients ON DELETE CASCADE,
    user_id      integer REFERENCES users ON DELETE SET NULL,
    kind         text NOT NULL CHECK (kind IN ('registration', 'change')),
    status       text NOT NULL CHECK (status IN ('draft', 'submitted', 'question', 'approved', 'rejected', 'withdrawn')),
    content      jsonb NOT NULL CHECK (octet_length(content::text) <= 262144),
    created_at   timestamptz NOT NULL DEFAULT now(),
    submitted_at timestamptz,
    decided_at   timestamptz,
    CONSTRAINT client_requests_client_check CHECK (client_id IS NOT NULL OR (kind = 'registration' AND status IN ('draft', 'withdrawn'))),
    CONSTRAINT client_requests_submitted_check CHECK (submitted_at IS NOT NULL OR status IN ('draft', 'withdrawn')),
    CONSTRAINT client_requests_decided_check CHECK ((decided_at IS NOT NULL) = (status IN ('approved', 'rejected')))
  )`,
  `CREATE UNIQUE INDEX client_requests_open ON client_requests (client_id) WHERE status IN ('submitted', 'question')`,
  'CREATE INDEX client_requests_client ON client_requests (client_id)',
  'CREATE INDEX client_requests_user ON client_requests (user_id)',
  `CREATE INDEX client_requests_queue ON client_requests (submitted_at, id) WHERE status IN ('submitted', 'question')`,
  `CREATE TABLE client_request_messages (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    request_id uuid NOT NULL REFERENCES client_requests ON DELETE CASCADE,
    at         timestamptz NOT NULL DEFAULT now(),
    author     text NOT NULL CHECK (author IN ('owner', 'operator')),
    name       text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    text       text NOT NULL CHECK (char_length(text) BETWEEN 1 AND 4000)
  )`,
  'CREATE INDEX client_request_messages_request ON client_request_messages (request_id, id)',
  // user_id or operator names who made the change; neither does for a change that the service made.
  `CREATE TABLE client_history (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    client_id text NOT NULL REFERENCES clients ON DELETE CASCADE,
    at        timestamptz NOT NULL DEFAULT now(),
    user_id   integer,
    operator  text,
    action    text NOT NULL,
    changes   jsonb NOT NULL DEFAULT '{}'
  )`,
  'CREATE INDEX client_history_client ON client_history (client_id, id)',
  // The portal sets the handle of its user's grant in each transaction. The database stores only a hash of the handle,
  // so a stolen password of the database does not identify a user.
  `CREATE FUNCTION current_developer() RETURNS integer ${IDENTIFYING} AS $$
    SELECT g.user_id FROM grants g JOIN clients c USING (client_id) JOIN users u ON u.id = g.user_id
    WHERE g.id = translate(rtrim(encode(sha256(decode(nullif(current_setting('oauth.developer', true), ''), 'hex')), 'base64'), '='), '+/', '-_')
      AND g.revoked_at IS NULL AND g.expires_at > now() AND u.disabled_at IS NULL
      AND c.developer_portal AND c.disabled_at IS NULL AND c.deleted_at IS NULL $$`,
  `CREATE FUNCTION owned_clients(only_testing boolean) RETURNS text[] ${IDENTIFYING} AS $$
    SELECT coalesce(array_agg(client_id), '{}') FROM client_owners o JOIN clients c USING (client_id)
    WHERE o.user_id = current_developer() AND c.deleted_at IS NULL AND (c.stage = 'testing' OR NOT only_testing)
      AND NOT c.developer_portal AND c.grant_type = 'authorization_code' $$`,
  'REVOKE ALL ON FUNCTION current_developer, owned_clients FROM PUBLIC',
  // Rejects changes that an operator must review, by roles that may not change the stage. An approved request then has
  // the content that the operator has read, because each change of a request increases its version.
  `CREATE FUNCTION clients_guard_review() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
    DECLARE
      free text[] := '{version,policy_uri,contacts,jwks,jwks_uri,redirect_uris,post_logout_redirect_uris,backchannel_logout_uri,scopes,optional_scopes,deleted_at}';
      known text[] := OLD.redirect_uris || OLD.post_logout_redirect_uris || OLD.backchannel_logout_uri;
      origin CONSTANT text := '^https?://[^/?#]+';
    BEGIN
      IF has_column_privilege('clients', 'stage', 'UPDATE')
        OR OLD.document_due_at IS NOT NULL AND has_column_privilege('clients', 'document_due_at', 'UPDATE')
      THEN
        RETURN NEW;
      END IF;
      IF to_jsonb(NEW) - free <> to_jsonb(OLD) - free
        OR NOT NEW.scopes <@ OLD.scopes
        OR EXISTS (SELECT FROM unnest(OLD.optional_scopes) s WHERE s = ANY (NEW.scopes) AND NOT s = ANY (NEW.optional_scopes))
        OR EXISTS (
          SELECT FROM unnest(NEW.redirect_uris || NEW.post_logout_redirect_uris || NEW.backchannel_logout_uri) uri
          WHERE uri IS NOT NULL AND NOT uri = ANY (array_remove(known, NULL)) AND NOT EXISTS (
            SELECT FROM unnest(known) k WHERE substring(k from origin) = substring(uri from origin)))
      THEN
        RAISE insufficient_privilege USING MESSAGE = 'client_change_needs_review', DETAIL = format('client %s', OLD.client_id);
      END IF;
      RETURN NEW;
    END $$`,
  `CREATE TRIGGER clients_guard_review BEFORE UPDATE ON clients FOR EACH ROW
    WHEN (OLD.stage = 'live') EXECUTE FUNCTION clients_guard_review()`,
  // A request cannot replace a deleted one that an operator has read.
  ...trigger(`client_requests_next_version BEFORE INSERT OR UPDATE ON client_requests FOR EACH ROW AS
    BEGIN
      IF TG_OP = 'INSERT' THEN NEW.id := gen_random_uuid(); NEW.version := 1;
      ELSE NEW.version := OLD.version + 1; END IF;
      RETURN NEW;
    END`),
  // The mails and the token of an invitation depend on its id, so no invitation has the id of a deleted one.
  ...trigger(`client_invitations_new_id BEFORE INSERT ON client_invitations FOR EACH ROW AS
    BEGIN
      NEW.id := gen_random_uuid();
      RETURN NEW;
    END`),
  // The approval of a registration keeps what the request does not contain.
  ...trigger(`clients_revise_request AFTER UPDATE ON clients FOR EACH ROW WHEN (OLD.stage = 'testing' AND NEW.stage = 'testing') AS
    DECLARE
      unreviewed CONSTANT text[] := '{version,disabled_at,deleted_at}';
    BEGIN
      IF to_jsonb(NEW) - unreviewed <> to_jsonb(OLD) - unreviewed THEN ${REVISE}; END IF;
      RETURN NULL;
    END`),
  ...trigger(`client_logos_revise_request AFTER INSERT OR UPDATE OR DELETE ON client_logos FOR EACH ROW AS
    BEGIN
      IF TG_OP = 'DELETE' THEN NEW := OLD; END IF;
      ${REVISE};
      RETURN NULL;
    END`),
  // The user who registers a client owns it. A deleted client has no owners; a deleted user leaves no drafts.
  ...trigger(`clients_record_owner AFTER INSERT ON clients FOR EACH ROW WHEN (NEW.stage = 'testing') AS
    BEGIN
      INSERT INTO client_owners (client_id, user_id) SELECT NEW.client_id, id FROM current_developer() id WHERE id IS NOT NULL;
      RETURN NULL;
    END`),
  ...trigger(`clients_end_ownership AFTER UPDATE OF deleted_at ON clients FOR EACH ROW WHEN (NEW.deleted_at IS NOT NULL) AS
    BEGIN
      UPDATE client_requests SET status = 'withdrawn' WHERE client_id = NEW.client_id AND status IN ('draft', 'submitted', 'question');
      DELETE FROM client_logos WHERE client_id = NEW.client_id;
      DELETE FROM client_invitations WHERE client_id = NEW.client_id;
      DELETE FROM client_testers WHERE client_id = NEW.client_id;
      DELETE FROM client_owners WHERE client_id = NEW.client_id;
      RETURN NULL;
    END`),
  // Former members keep no grants of an application in testing. Members change under the lock of the client, for which
  // a grant that is being recorded waits, and an outbox applies the revocations.
  ...definerFunction(`client_members_end_grants() RETURNS trigger AS
    BEGIN
      UPDATE grants SET revoked_at = now(), revoked_for = 'operator'
      WHERE user_id = OLD.user_id AND client_id = OLD.client_id AND revoked_at IS NULL
        AND EXISTS (SELECT FROM clients c WHERE c.client_id = OLD.client_id AND c.stage = 'testing')
        AND NOT EXISTS (SELECT FROM client_owners o WHERE o.client_id = OLD.client_id AND o.user_id = OLD.user_id)
        AND NOT EXISTS (SELECT FROM client_testers t WHERE t.client_id = OLD.client_id AND t.user_id = OLD.user_id);
      RETURN NULL;
    END`),
  ...memberTriggers('end_grants AFTER DELETE'),
  ...trigger(`users_end_drafts BEFORE DELETE ON users FOR EACH ROW AS
    BEGIN
      DELETE FROM client_requests WHERE user_id = OLD.id AND client_id IS NULL;
      RETURN OLD;
    END`),
  // Records changes in the transaction that makes them, without hashes. `oauth.operator` has the operator's name, which
  // only the roles of operators can set.
  ...definerFunction(`record_client_history(client text, action text, changes jsonb) RETURNS void AS
    BEGIN
      INSERT INTO client_history (client_id, user_id, operator, action, changes)
      VALUES (client, current_developer(),
        CASE WHEN has_column_privilege(session_user, 'clients', 'stage', 'UPDATE')
          THEN nullif(current_setting('oauth.operator', true), '') END,
        action, changes);
    END`),
  ...trigger(`clients_record_history AFTER INSERT OR UPDATE ON clients FOR EACH ROW AS
    DECLARE
      unrecorded CONSTANT text[] := '{version,name_skeleton,document_due_at,document_changed_at,document_problem}';
      before jsonb := CASE TG_OP WHEN 'UPDATE' THEN to_jsonb(OLD) - unrecorded ELSE '{}' END;
      changes jsonb;
    BEGIN
      SELECT jsonb_object_agg(key, jsonb_build_object('old', before -> key, 'new', value)) INTO changes
      FROM jsonb_each(to_jsonb(NEW) - unrecorded)
      WHERE value IS DISTINCT FROM coalesce(before -> key, 'null');
      IF changes IS NOT NULL THEN
        PERFORM record_client_history(NEW.client_id, CASE TG_OP WHEN 'INSERT' THEN 'created' ELSE 'updated' END, changes);
      END IF;
      RETURN NULL;
    END`),
  // Waits for grants that are being recorded, so that the removal of a member ends them too. A deleted user has no live
  // grants, and its row, which the deletion has locked, comes after the client in the common lock order.
  ...definerFunction(`client_members_lock_client() RETURNS trigger AS
    BEGIN
      ${REQUIRE_READ_COMMITTED}
      IF EXISTS (SELECT FROM users WHERE id = OLD.user_id) THEN
        PERFORM FROM clients WHERE client_id = OLD.client_id FOR NO KEY UPDATE;
      END IF;
      RETURN OLD;
    END`),
  ...memberTriggers('lock_client BEFORE DELETE'),
  // The name of the table gives the action: client_owners_added, client_secrets_removed.
  ...definerFunction(`client_members_record_history() RETURNS trigger AS
    DECLARE
      part jsonb := CASE TG_OP WHEN 'DELETE' THEN to_jsonb(OLD) ELSE to_jsonb(NEW) END - '{client_id,hash,image,token_hash,email,media_type}'::text[];
    BEGIN
      -- A cascade may have deleted the client.
      IF EXISTS (SELECT FROM clients WHERE client_id = coalesce(NEW.client_id, OLD.client_id)) THEN
        PERFORM record_client_history(coalesce(NEW.client_id, OLD.client_id),
          TG_TABLE_NAME || CASE WHEN TG_OP = 'DELETE' OR part ->> 'revoked_at' IS NOT NULL THEN '_removed' ELSE '_added' END, part);
      END IF;
      RETURN NULL;
    END`),
  ...memberTriggers('record_history AFTER INSERT OR DELETE'),
  ...memberTriggers('record_history AFTER INSERT', ['client_invitations']),
  ...memberTriggers('record_history AFTER INSERT OR DELETE OR UPDATE OF digest', ['client_logos']),
  ...memberTriggers('record_history AFTER INSERT OR UPDATE OF revoked_at', ['client_secrets']),
  // Steps of the portal that need rows of other users. Each checks the rights of the current developer.
  // A draft is locked after its user, as by the deletion of the user, which deletes the draft.
  ...definerFunction(`lock_developer() RETURNS void AS
    BEGIN
      PERFORM FROM users WHERE id = current_developer() FOR KEY SHARE;
    END`),
  // Shows the holder of the token what the invitation is for, before the acceptance. Only an owner's invitation is valid.
  ...definerFunction(`read_client_invitation(token bytea) RETURNS TABLE (name text, kind text, inviter text) AS
    BEGIN
      IF current_developer() IS NULL THEN RETURN; END IF;
      RETURN QUERY
        SELECT c.name, i.kind, u.name FROM client_invitations i
          JOIN clients c ON c.client_id = i.client_id AND c.deleted_at IS NULL
          JOIN client_owners o ON o.client_id = i.client_id AND o.user_id = i.invited_by
          JOIN users u ON u.id = o.user_id AND u.disabled_at IS NULL
        WHERE i.token_hash = sha256(token) AND i.expires_at > now();
    END`),
  // Locks the client, so that concurrent testers cannot exceed the limit. The token is proof of the invitation.
  ...definerFunction(`accept_client_invitation(token bytea) RETURNS TABLE (client text, name text, kind text, outcome text) AS
    DECLARE
      me integer := current_developer();
      invitation client_invitations;
    BEGIN
      ${REQUIRE_READ_COMMITTED}
      SELECT i.* INTO invitation FROM client_invitations i WHERE i.token_hash = sha256(token) AND i.expires_at > now();
      IF me IS NULL OR invitation IS NULL THEN RETURN; END IF;
      SELECT c.name INTO name FROM clients c
        WHERE c.client_id = invitation.client_id AND c.deleted_at IS NULL FOR NO KEY UPDATE;
      IF NOT FOUND THEN RETURN; END IF;
      client := invitation.client_id;
      kind := invitation.kind;
      IF kind = 'tester' AND (SELECT count(*) FROM client_testers t WHERE t.client_id = client) >= ${OWNER_LIMITS.testers} THEN
        outcome := 'testers_full'; RETURN NEXT; RETURN;
      END IF;
      -- Only an owner's invitation is valid, and only once.
      DELETE FROM client_invitations i USING client_owners o, users u
        WHERE i.id = invitation.id AND o.client_id = i.client_id AND o.user_id = i.invited_by
          AND u.id = o.user_id AND u.disabled_at IS NULL;
      IF NOT FOUND THEN RETURN; END IF;
      IF kind = 'owner' THEN
        INSERT INTO client_owners (client_id, user_id) VALUES (client, me) ON CONFLICT DO NOTHING;
      ELSE
        INSERT INTO client_testers (client_id, user_id) VALUES (client, me) ON CONFLICT DO NOTHING;
      END IF;
      outcome := 'accepted';
      RETURN NEXT;
    END`),
  ...definerFunction(`client_team(client text) RETURNS TABLE (user_id integer, name text, email text, kind text, since timestamptz) AS
    BEGIN
      IF NOT client = ANY (owned_clients(false)) THEN RETURN; END IF;
      RETURN QUERY
        SELECT u.id, u.name, u.email, m.kind, m.since FROM (
          SELECT o.user_id AS member, 'owner' AS kind, o.added_at AS since FROM client_owners o WHERE o.client_id = client
          UNION ALL SELECT t.user_id, 'tester', t.accepted_at FROM client_testers t WHERE t.client_id = client
        ) m JOIN users u ON u.id = m.member ORDER BY m.since, u.id;
    END`),
  ...definerFunction(`tested_clients() RETURNS TABLE (client text, name text, since timestamptz) AS
    BEGIN
      RETURN QUERY SELECT c.client_id, c.name, t.accepted_at FROM client_testers t JOIN clients c ON c.client_id = t.client_id
        WHERE t.user_id = current_developer() AND c.stage = 'testing' AND c.deleted_at IS NULL
        ORDER BY t.accepted_at DESC LIMIT 100;
    END`),
  ...definerFunction(`count_client_grants(client text, most integer) RETURNS integer AS
    BEGIN
      IF NOT client = ANY (owned_clients(false)) THEN RETURN NULL; END IF;
      RETURN (SELECT count(DISTINCT user_id) FROM (
        SELECT g.user_id FROM grants g WHERE g.client_id = client AND g.revoked_at IS NULL AND g.expires_at > now() LIMIT most
      ) live);
    END`),
  // Ends pauses, but not those that an operator made.
  ...definerFunction(`enable_client_stream(client text) RETURNS boolean AS
    DECLARE changed boolean;
    BEGIN
      IF NOT client = ANY (owned_clients(false)) THEN RETURN false; END IF;
      WITH enabled AS (
        UPDATE event_streams SET status = 'enabled', status_reason = NULL, failing_since = NULL, failures = 0, due_at = now()
        WHERE client_id = client AND status = 'paused' AND status_reason IS DISTINCT FROM '${BY_OPERATOR}'
        RETURNING id, delivery
      ), told AS (
        INSERT INTO events (stream_id, type, details, txn)
        SELECT id, 'stream-updated', '{"status": "enabled"}', gen_random_uuid() FROM enabled WHERE delivery <> 'logout'
      )
      SELECT count(*) > 0 INTO changed FROM enabled;
      IF changed THEN PERFORM record_client_history(client, 'events_enabled', '{}'); END IF;
      RETURN changed;
    END`),
  ...definerFunction(`redeliver_client_event(client text, event uuid) RETURNS boolean AS
    DECLARE event_type text;
    BEGIN
      IF NOT client = ANY (owned_clients(false)) THEN RETURN false; END IF;
      UPDATE events e SET outcome = NULL, finished_at = NULL FROM event_streams s
        WHERE e.jti = event AND e.outcome IS NOT NULL AND s.id = e.stream_id AND s.client_id = client
        RETURNING e.type INTO event_type;
      IF event_type IS NULL THEN RETURN false; END IF;
      PERFORM record_client_history(client, 'event_redelivered', jsonb_build_object('type', event_type, 'jti', event));
      RETURN true;
    END`),
  // Any developer may end the grants of a deleted client, because the deletion has ended its ownership.
  ...definerFunction(`end_client_grants(client text, most integer) RETURNS integer AS
    DECLARE ended integer;
    BEGIN
      IF current_developer() IS NULL OR NOT EXISTS (SELECT FROM clients c WHERE c.client_id = client AND c.deleted_at IS NOT NULL) THEN
        RETURN 0;
      END IF;
      WITH live AS (
        SELECT id FROM grants g WHERE g.client_id = client AND g.revoked_at IS NULL ORDER BY id LIMIT most FOR NO KEY UPDATE
      )
      UPDATE grants g SET revoked_at = now(), revoked_for = 'application' FROM live WHERE g.id = live.id;
      GET DIAGNOSTICS ended = ROW_COUNT;
      RETURN ended;
    END`),
];
