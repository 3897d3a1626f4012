import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import type { INestApplication } from '@nestjs/common';
import { Client } from 'pg';
import { ClientMemberService } from '#clients/operations/owners/client-member.service.js';
import { RequestService } from '#clients/operations/requests/request.service.js';
import { ReviewService } from '#clients/operations/requests/review.service.js';
import { EventStreamStore, PAUSED_BECAUSE_UNREACHABLE } from '#events/event-stream.store.js';
import { freePort } from '#local/servers/free-port.js';
import { MailStore } from '#mail/mail.store.js';
import { type MailRequest, PRODUCT_SUBJECTS } from '#messaging/contract.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { createService } from '#platform/bootstrap/service.js';
import { StatusReport } from '#platform/status/status-report.js';
import { appSettings, PATIENT } from '#test/support/app-settings.js';
import { createCertificate } from '#test/support/certificate.js';
import { type MailServer, type ReceivedMail, startMailServer } from '#test/support/mail-server.js';
import { withCredentials } from '#test/support/process-credentials.js';
import { until } from '#test/support/until.js';
import {
  type Developer,
  GRACE,
  openPortal,
  type Portal,
} from '../../../../libs/clients/test/support/open-portal.js';
import { tokenApp } from '../../src/app.module.js';
import { TokenConfiguration } from '../../src/token.configuration.js';

const WITHIN_MS = 60_000;
const OPERATOR_MAIL = 'ops@product.example';
const NONE: Pick<ReceivedMail, 'headers' | 'text'> = { headers: {}, text: '' };
const PORTAL = 'https://developers.example.com';
const TOKEN_KEYS = randomBytes(32).toString('base64url');

let portal: Portal;
let mails: MailServer;
let ada: Developer;
let clientId: string;
const running: INestApplication[] = [];
let count = 0;

beforeAll(async () => {
  portal = await openPortal();
  mails = await startMailServer();
});
afterAll(async () => {
  await mails.close();
  await portal.close();
});

beforeEach(async () => {
  count += 1;
  ada = await developer(`ada${count}`);
  clientId = await application(`Calendar ${count}`);
});
afterEach(async () => {
  mails.reset();
  await portal.sql('UPDATE client_secrets SET revoked_at = now() WHERE expires_at IS NOT NULL');
  await portal.sql('DELETE FROM mails');
  await portal.sql(
    `UPDATE client_requests SET status = 'withdrawn' WHERE status IN ('submitted', 'question')`,
  );
});

async function developer(name: string, columns = ''): Promise<Developer> {
  const made = await portal.developer(name);
  await portal.sql(
    `UPDATE users SET email = $2, name = 'Ada Lovelace', email_verified = true ${columns} WHERE id = $1`,
    made.actor.userId,
    addressOf(name),
  );
  return made;
}

const addressOf = (name: string): string => `${name}@example.com`;
const byText = (one = '', other = ''): number => one.localeCompare(other);
const adasMails = () => mails.to(addressOf(`ada${count}`));

/** Requests an application of ada. @returns its client id */
async function application(name: string, owner = ada): Promise<string> {
  return owner.as(async () => {
    const requests = portal.portal(RequestService);
    const draft = await requests.createDraft(owner.actor, {
      application: 'server',
      name,
      purpose: 'Shows bookings.',
      clientUri: 'https://calendar.example.com',
      policyUri: 'https://calendar.example.com/privacy',
      contacts: ['dev@calendar.example.com'],
      redirectUris: ['https://app.calendar.example.com/callback'],
      scopes: ['profile:read'],
      reasons: { 'profile:read': 'Shows the name' },
    });
    const { result } = await requests.submit(owner.actor, draft.id, { version: draft.version });
    return result.request.client_id ?? '';
  });
}

/** Lets an operator decide on the request of the application. @returns id of the request */
async function review(step: 'ask' | 'approve' | 'reject'): Promise<string> {
  const [row] = await portal.sql('SELECT id, version FROM client_requests WHERE client_id = $1', clientId);
  const { id, version } = row as { id: string; version: number };
  await portal.console(ReviewService)[step](GRACE, id, { version, text: 'Why?' });
  return id;
}

async function invite(email: string, kind: 'owner' | 'tester' = 'tester') {
  const members = portal.portal(ClientMemberService);
  return ada.as(() => members.invite(ada.actor, clientId, { kind, email }));
}

/** Starts a token app. @param settings by default with the mail server */
async function start(settings: Partial<TokenConfiguration> = {}): Promise<INestApplication> {
  const configuration = Object.assign(
    new TokenConfiguration(),
    withCredentials('token', {
      ...appSettings(portal.services),
      TOKEN_KEYS,
      DEVELOPERS_URL: PORTAL,
      SMTP_URL: `smtp://127.0.0.1:${mails.port}`,
      MAIL_FROM: 'oauth@product.example',
      LOG_LEVEL: 'silent',
      ...PATIENT,
      ...settings,
    }),
  );
  const app = await createService(tokenApp(configuration));
  running.push(app);
  await app.listen(0, '127.0.0.1');
  return app;
}

const stop = () => Promise.all(running.splice(0).map((app) => app.close()));

const waiting = async (): Promise<Record<string, unknown>[]> =>
  portal.sql('SELECT kind, answer, attempts FROM mails WHERE outcome IS NULL');
const finished = () => until('every mail is finished', WITHIN_MS, async () => (await waiting()).length === 0);
const dueNow = () => portal.sql('UPDATE mails SET due_at = now() WHERE outcome IS NULL');
const outcomes = () => portal.sql('SELECT kind, outcome FROM mails ORDER BY created_at, kind');

describe('two token apps', () => {
  beforeAll(async () => {
    await Promise.all([start({ OPERATOR_MAIL }), start({ OPERATOR_MAIL })]);
  });
  afterAll(stop);

  describe('the owners of an application', () => {
    it('get one mail for each question, decision and pause, from two processes', async () => {
      await review('ask');
      await review('ask');
      const id = await review('approve');
      await portal.sql(
        `INSERT INTO event_streams (client_id, delivery, endpoint_url, events_requested, failing_since)
       VALUES ($1, 'push', 'https://app.example.com/events', '{}', now() - interval '25 hours')`,
        clientId,
      );
      // The condition of `releaseFailed`.
      await portal.sql(
        `UPDATE event_streams SET status = 'paused', status_reason = $2 WHERE client_id = $1`,
        clientId,
        PAUSED_BECAUSE_UNREACHABLE,
      );
      await until('four mails', WITHIN_MS, () => adasMails().length === 4);
      await finished();
      const name = `Calendar ${count}`;
      expect(
        adasMails()
          .map(({ headers }) => headers['subject'])
          .toSorted(byText),
      ).toEqual(
        [
          `A question about “${name}”`,
          `A question about “${name}”`,
          `Your request for “${name}” is approved`,
          `Events for “${name}” are paused`,
        ].toSorted(byText),
      );
      const approved = adasMails().find(({ headers }) => headers['subject']?.includes('approved'));
      expect(approved?.text).toContain(`${PORTAL}/requests/${id}\n`);
      expect(approved?.headers['auto-submitted']).toBe('auto-generated');
    });

    it('get no mail for a pause by an operator', async () => {
      await portal.sql(
        `INSERT INTO event_streams (client_id, delivery, endpoint_url, events_requested) VALUES ($1, 'push', 'https://a.example/e', '{}')`,
        clientId,
      );
      await running[0]?.get(EventStreamStore).announceStatus(clientId, 'paused', 'by the operator');
      expect(await outcomes()).toEqual([]);
    });

    it.each([
      ['de', 'ist abgelehnt', 'de'],
      ['ja', 'の申請が却下されました', 'ja'],
      ['ar', 'رُفض طلبك للتطبيق', 'ar'],
      [null, 'is rejected', 'en'],
    ])('with the locale %s read the mail in their language', async (locale, subject, language) => {
      await portal.sql('UPDATE users SET locale = $2 WHERE id = $1', ada.actor.userId, locale);
      await review('reject');
      await until('a mail', WITHIN_MS, () => adasMails().length === 1);
      expect(adasMails()[0]?.headers['subject']).toContain(subject);
      expect(adasMails()[0]?.headers['content-language']).toBe(language);
    });

    it('get no mail at an address that is not verified, or with a disabled account', async () => {
      await portal.sql('UPDATE users SET email_verified = false WHERE id = $1', ada.actor.userId);
      const eve = await developer(`eve${count}`);
      await portal.sql('INSERT INTO client_owners VALUES ($1, $2)', clientId, eve.actor.userId);
      await portal.sql('UPDATE grants SET revoked_at = now() WHERE user_id = $1', eve.actor.userId);
      await portal.sql('UPDATE users SET operator_disabled_at = now() WHERE id = $1', eve.actor.userId);
      await review('ask');
      await finished();
      expect((await outcomes()).map(({ outcome }) => outcome)).toEqual(['dropped', 'dropped']);
      expect(mails.received).toEqual([]);
    });
  });

  describe('an invitation by mail', () => {
    it('can be accepted with its link, which no table contains', async () => {
      const { result } = await invite('grace@example.com', 'owner');
      expect(result.token).toBeNull();
      await until('a mail', WITHIN_MS, () => mails.to('grace@example.com').length === 1);
      const [{ text, headers } = NONE] = mails.to('grace@example.com');
      expect(text).toContain(`“Ada Lovelace” (${addressOf(`ada${count}`)}) invites you`);
      expect(text).toContain('To report this message, reply to it.');
      expect(headers['from']).toContain('oauth@product.example');
      const [, token = ''] = /\/invitation\?token=([\w-]{43})\n/.exec(text) ?? [];
      await finished();
      const dump = await dumpOf();
      for (const secret of [token, Buffer.from(token, 'base64url').toString('hex')])
        expect(dump).not.toContain(secret);
      expect(dump).toContain('grace@example.com');
      const grace = await portal.developer(`grace${count}`);
      const members = portal.portal(ClientMemberService);
      await grace.as(() => members.accept(grace.actor, token));
      expect(await ada.as(() => members.team(clientId))).toHaveLength(2);
    });

    it('is refused above ten in a day, even if earlier ones were revoked', async () => {
      const members = portal.portal(ClientMemberService);
      for (let sent = 0; sent < 10; sent += 1) {
        const { result } = await invite(`stranger${sent}@example.com`);
        await ada.as(() => members.revokeInvitation(ada.actor, clientId, result.id));
      }
      await expect(invite('stranger10@example.com')).rejects.toMatchObject({
        problems: [{ id: 'limit_reached', values: { of: 'mails', max: 10 } }],
      });
      const { result } = await ada.as(() => members.invite(ada.actor, clientId, { kind: 'tester' }));
      expect(result.token).toMatch(/^[\w-]{43}$/);
    });

    describe('to one address', () => {
      const limited = { problems: [{ id: 'limit_reached', values: { of: 'mails_to_address', max: 5 } }] };

      it('is refused above five in a day, whoever sends them, even if earlier ones were revoked', async () => {
        const members = portal.portal(ClientMemberService);
        const eve = await developer(`eve${count}`);
        const eves = await application(`Rooms ${count}`, eve);
        const input = (email: string) => ({ kind: 'tester', email }) as const;
        const inviteByEve = (email: string) => eve.as(() => members.invite(eve.actor, eves, input(email)));
        for (const send of [invite, inviteByEve, invite, inviteByEve]) await send('grace@example.com');
        const { result } = await invite('GRACE@example.com');
        await ada.as(() => members.revokeInvitation(ada.actor, clientId, result.id));
        for (const send of [invite, inviteByEve])
          await expect(send('Grace@Example.com')).rejects.toMatchObject(limited);
        await expect(inviteByEve('linus@example.com')).resolves.toBeDefined();
      });

      it('is refused above five whatever follows a plus sign, and each mail has the address as typed', async () => {
        for (let sent = 0; sent < 4; sent += 1) await invite(`Linus+${sent}@example.com`);
        await invite('linus@example.com');
        await expect(invite('linus+5+a@EXAMPLE.com')).rejects.toMatchObject(limited);
        await expect(invite('linus+0@example.org')).resolves.toBeDefined();
        await finished();
        expect(mails.to('Linus+0@example.com')).toHaveLength(1);
      });

      it('is refused above five even if an earlier transaction commits later', async () => {
        const eve = await developer(`eve${count}`);
        await application(`Rooms ${count}`, eve);
        for (let sent = 0; sent < 4; sent += 1) await invite('grace@example.com');
        const [first, second] = [
          new Client(portal.services.databaseUrl),
          new Client(portal.services.databaseUrl),
        ];
        await Promise.all([first.connect(), second.connect()]);
        const insertBy = (user: Developer) =>
          `INSERT INTO oauth.client_invitations (client_id, kind, token_hash, invited_by, email, expires_at)
           SELECT client_id, 'tester', sha256('${user.actor.userId}'), user_id, 'grace@example.com', now() + interval '1 day'
           FROM oauth.client_owners WHERE user_id = ${user.actor.userId}`;
        try {
          await first.query('BEGIN');
          await first.query(insertBy(ada));
          const later = second.query(insertBy(eve)).catch((error: unknown) => error);
          await until('the second waits', WITHIN_MS, async () => {
            const waits = await portal.sql(
              `SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
               WHERE l.locktype = 'advisory' AND NOT l.granted AND d.datname = current_database()`,
            );
            return waits.length > 0;
          });
          await first.query('COMMIT');
          expect(await later).toMatchObject({ constraint: 'client_invitations_address_limit' });
        } finally {
          await Promise.all([first.end(), second.end()]);
        }
      });

      it('is stored without the address, and for a day only', async () => {
        await invite('linus@example.com');
        await portal.sql(`DELETE FROM client_invitations`);
        expect(await dumpOf()).not.toContain('linus@');
        await portal.sql(`UPDATE mails SET created_at = now() - interval '25 hours'`);
        await running[0]?.get(MailStore).expire();
        expect(await portal.sql('SELECT recipient FROM mails')).toEqual([{ recipient: null }]);
      });
    });

    it.each([
      'grace',
      'grace@example.com\r\nBcc: eve@example.com',
      'a@b.example, c@d.example',
      '<a@b.example>',
    ])('is refused for the address %j', async (email) => {
      await expect(invite(email)).rejects.toMatchObject({ problems: [{ id: 'email_invalid' }] });
    });

    it('has names of strangers as short quoted text, without header fields and links', async () => {
      await portal.sql(
        'UPDATE clients SET name = $2 WHERE client_id = $1',
        clientId,
        `Win”\r\nBcc: eve@example.com\r\n\r\nhttps://evil.example/${'x'.repeat(40)}`,
      );
      await portal.sql(
        'UPDATE users SET name = $2 WHERE id = $1',
        ada.actor.userId,
        'Your bank www.evil.example\u202Emoc',
      );
      await invite('grace@example.com');
      await review('ask');
      await until('two mails', WITHIN_MS, () => mails.received.length === 2);
      for (const { raw, to, text, headers } of mails.received) {
        expect(to).toHaveLength(1);
        expect(Object.keys(headers)).not.toContain('bcc');
        expect(raw.slice(0, raw.indexOf('\r\n\r\n'))).not.toMatch(/^bcc/im);
        const links = `${headers['subject']} ${text}`.match(/https?:\/\/[^\s/]+|www\.\S+/g) ?? [];
        expect(new Set(links)).toEqual(new Set([PORTAL]));
        expect(text).not.toMatch(/[\r\u202E]|x{30}/);
      }
    });
  });

  describe('a secret with an expiry', () => {
    const secret = (life: string, left: string) =>
      portal.sql(
        `INSERT INTO client_secrets (client_id, hash, created_at, expires_at)
       VALUES ($1, decode(repeat('00', 32), 'hex'), now() - $2::interval + $3::interval, now() + $3::interval)`,
        clientId,
        life,
        left,
      );

    it.each([
      ['14 days before', '90 days', '13 days', 'expires on'],
      ['2 days before', '90 days', '1 day', 'expires on'],
      ['when it has expired', '90 days', '-1 hour', 'has expired'],
    ])('is mentioned %s, once, from two processes', async (_, life, left, subject) => {
      await secret(life, left);
      const stores = running.map((app) => app.get(MailStore));
      await Promise.all([...stores, ...stores, ...stores].map((store) => store.remind()));
      await until('a mail', WITHIN_MS, () => adasMails().length >= 1);
      await finished();
      await Promise.all(stores.map((store) => store.remind()));
      await finished();
      expect(adasMails().map(({ headers }) => headers['subject'])).toEqual([
        expect.stringContaining(subject),
      ]);
    });

    it('is one mail with the others that expire on that day, so that a stolen password sends no flood', async () => {
      await portal.sql(
        `INSERT INTO client_secrets (client_id, hash, created_at, expires_at)
         SELECT $1, sha256(convert_to(n::text, 'UTF8')), now() - interval '90 days', now() + interval '1 day'
         FROM generate_series(1, 50) n`,
        clientId,
      );
      await running[0]?.get(MailStore).remind();
      await running[0]?.get(MailStore).remind();
      await finished();
      expect(adasMails()).toHaveLength(1);
    });

    it('is not mentioned earlier, after its revocation, or with a shorter life than the reminder', async () => {
      await secret('90 days', '15 days');
      await secret('90 days', '10 days');
      await portal.sql(
        'UPDATE client_secrets SET revoked_at = now() WHERE expires_at < now() + $1::interval',
        '11 days',
      );
      await secret('10 days', '9 days');
      await running[0]?.get(MailStore).remind();
      expect(await outcomes()).toEqual([]);
    });
  });

  describe('the operator', () => {
    it('gets one list of open requests in a day, from two processes', async () => {
      await portal.sql(
        `UPDATE clients SET name = E'Evil\\nhttps://evil.example' WHERE client_id = $1`,
        clientId,
      );
      await portal.sql(
        `UPDATE client_requests SET submitted_at = now() - interval '73 hours' WHERE client_id = $1`,
        clientId,
      );
      await Promise.all(running.map((app) => app.get(MailStore).addDigest()));
      await until('a mail', WITHIN_MS, () => mails.to(OPERATOR_MAIL).length === 1);
      await application('Another');
      await running[0]?.get(MailStore).addDigest();
      await finished();
      const [{ headers, text } = NONE, ...more] = mails.to(OPERATOR_MAIL);
      expect(more).toEqual([]);
      expect(headers['subject']).toBe('Scheduling: 1 open request of owners of applications');
      expect(text).toContain('- “Evil https: / / evil. example”: 3 days\n');
    });

    it('gets no list while no request is open', async () => {
      await portal.sql(`UPDATE client_requests SET status = 'withdrawn' WHERE client_id = $1`, clientId);
      await running[0]?.get(MailStore).addDigest();
      expect(await outcomes()).toEqual([]);
    });
  });

  describe('delivery', () => {
    it('leaves a mail to the process that sends it, while the mail server does not answer', async () => {
      const answer = mails.hold('MESSAGE');
      try {
        await invite('grace@example.com');
        await until('the first mail', WITHIN_MS, () => mails.received.length === 1);
        // The other process looks for due mails, oldest first.
        await invite('heidi@example.com');
        await until('another mail', WITHIN_MS, () => mails.received.length === 2);
      } finally {
        answer();
      }
      await finished();
      expect(mails.received.map(({ to }) => to)).toEqual([['grace@example.com'], ['heidi@example.com']]);
    });

    it('repeats a mail whose answer was lost, with the same Message-ID and link', async () => {
      mails.replies.set('MESSAGE', '');
      await invite('grace@example.com');
      await until('an attempt', WITHIN_MS, () => mails.received.length === 1);
      mails.replies.clear();
      await until('a failed attempt', WITHIN_MS, async () => (await waiting())[0]?.['answer'] !== null);
      await dueNow();
      await finished();
      const [first, second, ...more] = mails.to('grace@example.com');
      expect(more).toEqual([]);
      expect(second?.headers['message-id']).toMatch(/^<[\w-]{36}@product\.example>$/);
      expect(second?.headers['message-id']).toBe(first?.headers['message-id']);
      expect(second?.text).toBe(first?.text);
    });

    it('ends if the mail server refuses the recipient, and continues if it refuses for now', async () => {
      mails.replies.set('RCPT', '550 no such user');
      await invite('nobody@example.com');
      await finished();
      expect(await outcomes()).toEqual([{ kind: 'invitation', outcome: 'refused' }]);
      mails.replies.set('RCPT', '451 later');
      await invite('grace@example.com');
      await until('a failed attempt', WITHIN_MS, async () => (await waiting())[0]?.['answer'] !== null);
      mails.replies.clear();
      await dueNow();
      await finished();
      expect(mails.to('grace@example.com')).toHaveLength(1);
    });
  });
});

describe('a token app', () => {
  afterEach(stop);

  it('sends no invitation that was revoked', async () => {
    const { result } = await invite('grace@example.com');
    await ada.as(() => portal.portal(ClientMemberService).revokeInvitation(ada.actor, clientId, result.id));
    await start();
    await finished();
    expect(await outcomes()).toEqual([{ kind: 'invitation', outcome: 'dropped' }]);
    expect(mails.received).toEqual([]);
  });

  it('keeps mails while the mail server is down, and sends once it is up', async () => {
    const port = await freePort();
    const app = await start({ SMTP_URL: `smtp://127.0.0.1:${port}` });
    await invite('grace@example.com');
    await until('a failed attempt', WITHIN_MS, async () => (await waiting())[0]?.['answer'] !== null);
    expect(await waiting()).toMatchObject([{ answer: 'the mail server cannot be reached (ESOCKET)' }]);
    const status = await app.get(StatusReport).read();
    expect(status.mail).toEqual({
      transport: 'smtp',
      failure: 'the mail server cannot be reached (ESOCKET)',
    });
    expect(await app.get(MailStore).waiting()).toMatchObject({ count: 1 });
    const late = await startMailServer('127.0.0.1', port);
    try {
      await dueNow();
      await finished();
      expect(late.to('grace@example.com')).toHaveLength(1);
      expect((await app.get(StatusReport).read()).mail).toEqual({ transport: 'smtp', failure: null });
    } finally {
      await late.close();
    }
  });

  it('gives a mail up after three days, deletes it after thirty, and deletes addresses of expired invitations', async () => {
    await invite('grace@example.com');
    await portal.sql(
      `UPDATE mails SET created_at = now() - interval '73 hours', due_at = now() + interval '1 hour'`,
    );
    const app = await start();
    await until('the end', WITHIN_MS, async () => (await waiting()).length === 0);
    expect(await outcomes()).toEqual([{ kind: 'invitation', outcome: 'expired' }]);
    expect(await app.get(MailStore).waiting()).toMatchObject({ count: 0, expired: 1 });
    await portal.sql(`UPDATE mails SET created_at = now() - interval '31 days'`);
    await portal.sql(
      `UPDATE client_invitations SET expires_at = now() - interval '1 hour' WHERE email IS NOT NULL`,
    );
    await app.get(MailStore).expire();
    expect(await portal.sql('SELECT FROM client_invitations WHERE email IS NOT NULL')).toEqual([]);
    expect(await outcomes()).toEqual([]);
  });

  it('never sends a password without TLS to another machine', async () => {
    const other = await startMailServer('127.0.0.2');
    try {
      const app = await start({ SMTP_URL: `smtp://oauth:secret@127.0.0.2:${other.port}` });
      await invite('grace@example.com');
      await until('a failed attempt', WITHIN_MS, async () => (await waiting())[0]?.['answer'] !== null);
      expect(other.received).toEqual([]);
      expect(other.commands.filter((line) => line.startsWith('AUTH'))).toEqual([]);
      expect((await app.get(StatusReport).read()).mail?.failure).toBe('no TLS with the mail server (502)');
    } finally {
      await other.close();
    }
  });

  const ONLY_TLS_1_1 = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
  it.each([
    ['an untrusted certificate', 'smtps', 'implicit', {}, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['an untrusted certificate', 'smtp', 'starttls', {}, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['TLS 1.1', 'smtps', 'implicit', ONLY_TLS_1_1, 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'],
  ] as const)(
    'keeps mails for a server with %s at %s://, and does not log in',
    async (_, scheme, mode, options, code) => {
      const folder = await mkdtemp(join(tmpdir(), 'mail-'));
      const certificate = { ...(await createCertificate(folder)), ...options };
      const untrusted = await startMailServer('127.0.0.2', 0, { certificate, mode });
      try {
        const app = await start({ SMTP_URL: `${scheme}://oauth:secret@127.0.0.2:${untrusted.port}` });
        await invite('grace@example.com');
        await until('a failed attempt', WITHIN_MS, async () => (await waiting())[0]?.['answer'] !== null);
        const failure = `no TLS with the mail server (${code})`;
        expect(await waiting()).toMatchObject([{ kind: 'invitation', answer: failure }]);
        expect((await app.get(StatusReport).read()).mail?.failure).toBe(failure);
        expect(untrusted.commands.filter((line) => !/^(EHLO|STARTTLS)\b/.test(line))).toEqual([]);
      } finally {
        await untrusted.close();
        await rm(folder, { recursive: true });
      }
    },
  );

  it('reports a refused login without the password', async () => {
    mails.replies.set('AUTH', '535 oauth with the password s3cret+ is wrong');
    const app = await start({ SMTP_URL: `smtp://oauth:s3cret%2B@127.0.0.1:${mails.port}` });
    await until(
      'a report',
      WITHIN_MS,
      async () => (await app.get(StatusReport).read()).mail?.failure !== null,
    );
    expect((await app.get(StatusReport).read()).mail?.failure).toBe(
      'the mail server refuses the login (535)',
    );
    const [, login = ''] = /^AUTH PLAIN (.+)$/m.exec(mails.commands.join('\n')) ?? [];
    expect(Buffer.from(login, 'base64').toString()).toBe('\0oauth\0s3cret+');
  });

  it('asks the product over NATS without a mail server, until the product accepts', async () => {
    const nats = await connect(natsOptions(portal.services.natsUrl, 'product'));
    try {
      await start({ SMTP_URL: '', MAIL_FROM: '', DEPENDENCY_TIMEOUT: 2 });
      await invite('grace@example.com');
      await until('a failed attempt', WITHIN_MS, async () => (await waiting())[0]?.['answer'] !== null);
      const asked: MailRequest[] = [];
      nats.subscribe(PRODUCT_SUBJECTS.sendMail, {
        callback: (_error, message) => {
          const { id, data } = message.json<{ id: string; data: MailRequest }>();
          asked.push(data);
          message.respond(JSON.stringify({ response: { status: 'accepted' }, isDisposed: true, id }));
        },
      });
      await nats.flush();
      await dueNow();
      await finished();
      expect(asked).toEqual([
        {
          id: expect.stringMatching(/^[\w-]{36}$/),
          kind: 'invitation',
          to: 'grace@example.com',
          language: 'en',
          subject: 'You are invited to an application at Scheduling',
          text: expect.stringContaining(`${PORTAL}/invitation?token=`),
        },
      ]);
      expect(await outcomes()).toEqual([{ kind: 'invitation', outcome: 'sent' }]);
    } finally {
      await nats.close();
    }
  });
});

/** Every row of every table as text. */
async function dumpOf(): Promise<string> {
  const tables = await portal.sql(`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'oauth'`);
  const rows = await Promise.all(
    tables.map(({ name }) => portal.sql(`SELECT t::text AS row FROM ${String(name)} t`)),
  );
  return JSON.stringify(rows);
}
