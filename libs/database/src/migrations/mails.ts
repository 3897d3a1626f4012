import { MAIL_LIMITS, OWNER_LIMITS } from '#clients/owners/owner-limits.statements.js';
import { MAIL_KINDS, MAIL_OUTCOMES } from '#mail/mail.entity.js';
import { REQUIRE_READ_COMMITTED, trigger } from './statements.js';

const list = (names: readonly string[]) => names.map((name) => `'${name}'`).join(', ');
const mailOwners = (kind: string, client: string, about: string) => `
      INSERT INTO mails (kind, user_id, client_id, about)
      SELECT ${kind}, o.user_id, o.client_id, ${about} FROM client_owners o WHERE o.client_id = ${client};`;

/** Outbox of mails. Triggers insert a mail in the transaction that causes it (docs/adr/0059-mails.md). */
export const MAILS: readonly string[] = [
  `CREATE TABLE mails (
    id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    kind        text NOT NULL CHECK (kind IN (${list(MAIL_KINDS)})),
    cause       text UNIQUE,
    user_id     integer REFERENCES users ON DELETE CASCADE,
    client_id   text REFERENCES clients ON DELETE CASCADE,
    about       uuid,
    recipient   integer,
    created_at  timestamptz NOT NULL DEFAULT now(),
    due_at      timestamptz NOT NULL DEFAULT now(),
    attempts    integer NOT NULL DEFAULT 0,
    answer      text CHECK (char_length(answer) <= 255),
    outcome     text CHECK (outcome IN (${list(MAIL_OUTCOMES)})),
    finished_at timestamptz,
    CONSTRAINT mails_finished_check CHECK ((outcome IS NULL) = (finished_at IS NULL))
  )`,
  'CREATE INDEX mails_due ON mails (due_at) WHERE outcome IS NULL',
  'CREATE INDEX mails_user ON mails (user_id, created_at)',
  'CREATE INDEX mails_client ON mails (client_id)',
  'CREATE INDEX mails_age ON mails (created_at)',
  'CREATE INDEX mails_recipient ON mails (recipient) WHERE recipient IS NOT NULL',
  // A revoked invitation still counts, because the mail remains.
  ...trigger(`client_invitations_mail AFTER INSERT ON client_invitations FOR EACH ROW WHEN (NEW.email IS NOT NULL) AS
    DECLARE
      -- Many mail servers deliver a+b@example.com to a@example.com.
      address text := regexp_replace(lower(NEW.email), '(?<=.)[+].*@', '@');
      address_hash integer := ('x' || left(encode(sha256(convert_to(address, 'UTF8')), 'hex'), 8))::bit(32)::integer;
      sent record;
    BEGIN
      ${REQUIRE_READ_COMMITTED}
      PERFORM pg_advisory_xact_lock(hashtextextended('limits of ' || NEW.invited_by, 0));
      PERFORM pg_advisory_xact_lock(hashtextextended('mails to ' || address_hash, 0));
      SELECT count(*) FILTER (WHERE user_id = NEW.invited_by) AS by_user,
          count(*) FILTER (WHERE recipient = address_hash) AS to_address INTO sent
        FROM mails WHERE (user_id = NEW.invited_by OR recipient = address_hash) AND kind = 'invitation'
          AND created_at > now() - interval '1 day';
      IF sent.by_user >= ${OWNER_LIMITS.mails} THEN
        RAISE check_violation USING MESSAGE = 'too many invitations by mail', CONSTRAINT = '${MAIL_LIMITS.mails}';
      END IF;
      IF sent.to_address >= ${OWNER_LIMITS.mails_to_address} THEN
        RAISE check_violation USING MESSAGE = 'too many invitations to an address', CONSTRAINT = '${MAIL_LIMITS.mails_to_address}';
      END IF;
      INSERT INTO mails (kind, user_id, client_id, about, recipient)
        VALUES ('invitation', NEW.invited_by, NEW.client_id, NEW.id, address_hash);
      RETURN NULL;
    END`),
  ...trigger(`client_requests_mail_decision AFTER UPDATE OF status ON client_requests FOR EACH ROW
    WHEN (NEW.status <> OLD.status AND NEW.status IN ('approved', 'rejected')) AS
    BEGIN ${mailOwners('NEW.status', 'NEW.client_id', 'NEW.id')} RETURN NULL; END`),
  // A second question leaves the status, so that the message of the operator is the event.
  ...trigger(`client_request_messages_mail_question AFTER INSERT ON client_request_messages FOR EACH ROW WHEN (NEW.author = 'operator') AS
    DECLARE asked client_requests;
    BEGIN
      SELECT * INTO asked FROM client_requests WHERE id = NEW.request_id AND status = 'question';
      ${mailOwners("'question'", 'asked.client_id', 'asked.id')}
      RETURN NULL;
    END`),
  // Only a receiver that has failed for a day is paused with a time of its first failure.
  ...trigger(`event_streams_mail_pause AFTER UPDATE OF status ON event_streams FOR EACH ROW
    WHEN (NEW.status = 'paused' AND OLD.status <> 'paused' AND NEW.failing_since IS NOT NULL) AS
    BEGIN ${mailOwners("'receiver_paused'", 'NEW.client_id', 'NULL::uuid')} RETURN NULL; END`),
];
