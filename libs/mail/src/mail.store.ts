import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { backoff } from '#platform/postgres/backoff.statement.js';
import type { MailKind, MailOutcome } from './mail.entity.js';

export interface Mail {
  readonly id: string;
  readonly kind: MailKind;
  readonly clientId: string | null;
  readonly about: string | null;
  readonly attempts: number;
}

/** Recipient and values of a mail, as they are when it is sent. An invitation has the language of the inviter. */
export interface MailValues {
  readonly email: string;
  readonly locale: string | null;
  readonly timeZone: string;
  readonly application: string;
  readonly expiresAt: Date | null;
  /** Only of an invitation. */
  readonly role: 'owner' | 'tester' | null;
  readonly inviter: string | null;
  /** Verified address of the inviter. */
  readonly inviterEmail: string | null;
}

export interface OpenRequests {
  readonly count: number;
  /** Oldest first. */
  readonly oldest: readonly { readonly name: string; readonly submittedAt: Date }[];
}

export interface WaitingMails {
  readonly count: number;
  readonly since: Date | null;
  /** Latest answer to the mail that waits longest. */
  readonly answer: string | null;
  readonly expired: number;
}

const GIVE_UP_AFTER = "interval '3 days'";
/** Longer than a reminder is due, because its cause prevents a second one, and than the limit of invitations counts. */
const KEPT_FOR = "interval '30 days'";
const MAX_LISTED = 20;

const OWNER_VALUES = `
  SELECT u.email, u.locale, u.time_zone AS "timeZone", c.name AS application, s.expires_at AS "expiresAt",
    NULL AS role, NULL AS inviter, NULL AS "inviterEmail"
  FROM mails m JOIN users u ON u.id = m.user_id JOIN clients c ON c.client_id = m.client_id
    JOIN client_owners o ON o.client_id = m.client_id AND o.user_id = m.user_id
    LEFT JOIN client_secrets s ON s.id = m.about AND s.revoked_at IS NULL
  WHERE m.id = $1 AND u.email_verified AND u.disabled_at IS NULL AND c.deleted_at IS NULL
    AND CASE m.kind WHEN 'secret_expires' THEN s.expires_at > now() WHEN 'secret_expired' THEN s.id IS NOT NULL ELSE true END`;

const INVITATION_VALUES = `
  SELECT i.email, u.locale, u.time_zone AS "timeZone", c.name AS application,
    i.expires_at AS "expiresAt", i.kind AS role, u.name AS inviter,
    CASE WHEN u.email_verified THEN u.email END AS "inviterEmail"
  FROM mails m JOIN client_invitations i ON i.id = m.about JOIN users u ON u.id = i.invited_by
    JOIN client_owners o ON o.client_id = i.client_id AND o.user_id = u.id
    JOIN clients c ON c.client_id = i.client_id
  WHERE m.id = $1 AND i.expires_at > now() AND u.disabled_at IS NULL AND c.deleted_at IS NULL`;

/** Outbox of mails (docs/adr/0059-mails.md). Triggers insert the mails that belong to a change. */
@Injectable()
export class MailStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Leases a due mail. Another process sends the mail of a process that died, after the lease. */
  async lease(leaseSeconds: number): Promise<Mail | null> {
    const [mail] = await this.dataSource.query<Mail[]>(
      `WITH due AS (
         SELECT id FROM mails WHERE outcome IS NULL AND due_at <= now() ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
       ), leased AS (
         UPDATE mails m SET due_at = now() + make_interval(secs => $1), attempts = attempts + 1
         FROM due WHERE m.id = due.id RETURNING m.id, m.kind, m.client_id, m.about, m.attempts
       )
       SELECT id, kind, client_id AS "clientId", about, attempts FROM leased`,
      [leaseSeconds],
    );
    return mail ?? null;
  }

  /** @returns null for a mail that is no longer needed, or whose recipient has no verified address */
  async values({ id, kind }: Mail): Promise<MailValues | null> {
    const statement = kind === 'invitation' ? INVITATION_VALUES : OWNER_VALUES;
    const [values] = await this.dataSource.query<MailValues[]>(statement, [id]);
    return values ?? null;
  }

  /** Makes a token valid for an open invitation. @param hash SHA-256 of the token */
  async setInvitationToken(id: string, hash: Buffer): Promise<void> {
    await this.dataSource.query('UPDATE client_invitations SET token_hash = $2 WHERE id = $1', [id, hash]);
  }

  async finish(id: string, outcome: MailOutcome, answer: string): Promise<void> {
    await this.dataSource.query(
      `UPDATE mails SET outcome = $2, answer = $3, finished_at = now() WHERE id = $1 AND outcome IS NULL`,
      [id, outcome, answer],
    );
  }

  async retryLater(id: string, answer: string): Promise<void> {
    await this.dataSource.query(
      `UPDATE mails SET answer = $2, due_at = now() + ${backoff('attempts')} WHERE id = $1 AND outcome IS NULL`,
      [id, answer],
    );
  }

  /**
   * Reminds each owner of a secret 14 days and 2 days before its expiry, and when it has expired. A secret with a shorter
   * life has fewer reminders. The unique cause permits each reminder once, for all secrets that expire on the same day.
   */
  async remind(): Promise<void> {
    await this.dataSource.query(
      `INSERT INTO mails (kind, cause, user_id, client_id, about)
       SELECT r.kind, format('secret of %s on %s %s %s', s.client_id, (s.expires_at AT TIME ZONE 'UTC')::date, r.days, o.user_id), o.user_id, s.client_id, s.id
       FROM client_secrets s
         JOIN (VALUES ('secret_expires', 14, 2), ('secret_expires', 2, 0), ('secret_expired', 0, -7)) r (kind, days, until)
           ON s.expires_at <= now() + make_interval(days => r.days)
             AND s.expires_at > now() + make_interval(days => r.until)
             AND s.created_at < s.expires_at - make_interval(days => r.days)
         JOIN clients c ON c.client_id = s.client_id AND c.deleted_at IS NULL AND c.disabled_at IS NULL
         JOIN client_owners o ON o.client_id = s.client_id
       WHERE s.revoked_at IS NULL
       ON CONFLICT (cause) DO NOTHING`,
    );
  }

  /** Inserts the operator's mail of this day (UTC), if a request is open. */
  async addDigest(): Promise<void> {
    await this.dataSource.query(
      `INSERT INTO mails (kind, cause)
       SELECT 'digest', 'digest ' || (now() AT TIME ZONE 'UTC')::date
       WHERE EXISTS (SELECT FROM client_requests WHERE status IN ('submitted', 'question'))
       ON CONFLICT (cause) DO NOTHING`,
    );
  }

  async openRequests(): Promise<OpenRequests> {
    const oldest = await this.dataSource.query<
      (OpenRequests['oldest'][number] & { readonly count: number })[]
    >(
      `SELECT c.name, r.submitted_at AS "submittedAt", (count(*) OVER ())::integer AS count
       FROM client_requests r JOIN clients c USING (client_id) WHERE r.status IN ('submitted', 'question')
       ORDER BY r.submitted_at LIMIT ${MAX_LISTED}`,
    );
    return { count: oldest[0]?.count ?? 0, oldest };
  }

  /**
   * Gives up mails that have waited for three days; deletes old ones, the addresses of expired invitations, and the
   * hashes of addresses that no longer count.
   * @returns the mails given up
   */
  async expire(): Promise<(Mail & { readonly answer: string | null })[]> {
    await this.dataSource.query(
      `DELETE FROM mails WHERE created_at < now() - ${KEPT_FOR} AND outcome IS NOT NULL`,
    );
    await this.dataSource.query(
      'UPDATE client_invitations SET email = NULL WHERE email IS NOT NULL AND expires_at < now()',
    );
    await this.dataSource.query(
      `UPDATE mails SET recipient = NULL WHERE recipient IS NOT NULL AND created_at < now() - interval '1 day'`,
    );
    return this.dataSource.query(
      `WITH expired AS (
         UPDATE mails SET outcome = 'expired', finished_at = now()
         WHERE outcome IS NULL AND created_at < now() - ${GIVE_UP_AFTER}
         RETURNING id, kind, client_id, about, attempts, answer
       )
       SELECT id, kind, client_id AS "clientId", about, attempts, answer FROM expired`,
    );
  }

  /**
   * Mails that wait although an attempt has failed, or that wait for more than ten minutes; mails given up in the last
   * day.
   */
  async waiting(): Promise<WaitingMails> {
    const [waiting] = await this.dataSource.query<WaitingMails[]>(
      `SELECT count(*) FILTER (WHERE late)::integer AS count, min(created_at) FILTER (WHERE late) AS since,
         (array_agg(answer ORDER BY created_at) FILTER (WHERE late))[1] AS answer,
         count(*) FILTER (WHERE outcome = 'expired')::integer AS expired
       FROM (
         SELECT created_at, answer, outcome,
           outcome IS NULL AND (answer IS NOT NULL OR created_at < now() - interval '10 minutes') AS late
         FROM mails WHERE outcome IS NULL OR (outcome = 'expired' AND finished_at > now() - interval '1 day')
       ) m`,
    );
    return waiting ?? { count: 0, since: null, answer: null, expired: 0 };
  }
}
