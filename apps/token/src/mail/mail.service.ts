import { createHash } from 'node:crypto';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { Counter } from 'prom-client';
import { MAIL_OUTCOMES } from '#mail/mail.entity.js';
import { type Mail, MailStore } from '#mail/mail.store.js';
import type { MailRequest } from '#messaging/contract.js';
import { isEmailAddress } from '#oauth/links.js';
import { BackgroundLoop } from '#platform/background-loop.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { StatusReport } from '#platform/status/status-report.js';
import { Metrics } from '#platform/telemetry/metrics.js';
import { TokenConfiguration } from '../token.configuration.js';
import { MailContent } from './mail-content.js';
import { type MailAttempt, MailTransport } from './mail.transport.js';

/** Longer than an attempt, which ends after 30 s at most. */
const LEASE_S = 120;
const SENDING = { pass: 1_000, retry: 5_000 } as const;
const SCHEDULE = { pass: 10 * 60_000, retry: 60_000 } as const;

/** Sends the mails of the outbox, one after the other. A mail is sent again until it is accepted, with the same id. */
@Injectable()
export class MailService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('mail');
  private readonly counter: Counter<'outcome'>;
  private readonly sending: BackgroundLoop;
  private readonly schedule: BackgroundLoop;
  private current: Promise<void> = Promise.resolve();
  private isClosed = false;
  /** Failure of the transport at the latest check or attempt. */
  private failure: string | null = null;

  constructor(
    private readonly mails: MailStore,
    private readonly content: MailContent,
    private readonly transport: MailTransport,
    private readonly configuration: TokenConfiguration,
    @Inject(CLOCK) private readonly clock: Clock,
    metrics: Metrics,
    status: StatusReport,
  ) {
    const onFailure = (reason: string) => this.logger.error(`mails wait: ${reason}`);
    this.sending = new BackgroundLoop(() => this.sendAll(), SENDING, onFailure);
    this.schedule = new BackgroundLoop(() => this.scheduled(), SCHEDULE, onFailure);
    this.counter = metrics.counter(
      'oauth_mails_total',
      'Mails: sent, refused by the mail server or product, failed and to be repeated, dropped because no longer needed, or expired after three days',
      ['outcome'],
    );
    for (const outcome of [...MAIL_OUTCOMES, 'failed'] as const) this.counter.inc({ outcome }, 0);
    // NaN if PostgreSQL does not answer, because an old value would hide the failure.
    metrics.measure('oauth_mails_waiting', 'Mails that wait after a failed attempt, or for ten minutes', () =>
      mails.waiting().then(
        ({ count }) => count,
        () => Number.NaN,
      ),
    );
    if (this.isOn) status.register('mail', () => ({ transport: transport.name, failure: this.failure }));
  }

  onApplicationBootstrap(): void {
    this.schedule.run();
    if (this.isOn) this.sending.run();
  }

  /** Finishes the attempt that has begun. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isClosed = true;
    this.schedule.stop();
    this.sending.stop();
    await this.current.catch(() => undefined);
  }

  private get isOn(): boolean {
    return this.configuration.DEVELOPERS_URL !== '';
  }

  private async scheduled(): Promise<void> {
    for (const { id, kind, clientId, answer } of await this.mails.expire()) {
      this.counter.inc({ outcome: 'expired' });
      this.logger.error({ mail: id, kind, client_id: clientId, failure: answer, msg: 'mail given up' });
    }
    if (!this.isOn) return;
    await this.mails.remind();
    if (this.configuration.OPERATOR_MAIL !== '') await this.mails.addDigest();
    this.failure = await this.transport.check();
  }

  private async sendAll(): Promise<void> {
    while (!this.isClosed) {
      const mail = await this.mails.lease(LEASE_S);
      if (!mail) return;
      this.current = this.send(mail);
      await this.current;
    }
  }

  private async send(mail: Mail): Promise<void> {
    const message = await this.compose(mail);
    if (!message) {
      this.counter.inc({ outcome: 'dropped' });
      return this.mails.finish(mail.id, 'dropped', 'no longer needed, or without a verified address');
    }
    const attempt: MailAttempt = isEmailAddress(message.to)
      ? await this.transport.send(message)
      : { outcome: 'refused', answer: 'not an email address' };
    this.counter.inc({ outcome: attempt.outcome });
    const { id, kind, clientId } = mail;
    const log = { mail: id, kind, client_id: clientId, failure: attempt.answer };
    if (attempt.outcome === 'failed') {
      this.failure = attempt.answer;
      if (mail.attempts === 1) this.logger.warn({ ...log, msg: 'mail not sent yet' });
      return this.mails.retryLater(id, attempt.answer);
    }
    if (attempt.outcome === 'sent') this.failure = null;
    else this.logger.warn({ ...log, msg: 'mail refused' });
    await this.mails.finish(id, attempt.outcome, attempt.answer);
  }

  private async compose(mail: Mail): Promise<MailRequest | null> {
    if (mail.kind === 'digest') {
      const open = await this.mails.openRequests();
      const isWanted = open.count > 0 && this.configuration.OPERATOR_MAIL !== '';
      return isWanted ? this.content.toOperator(mail, open, this.clock()) : null;
    }
    const values = await this.mails.values(mail);
    if (!values) return null;
    if (mail.kind === 'invitation') {
      const hash = createHash('sha256')
        .update(this.content.invitationToken(mail.about ?? ''))
        .digest();
      await this.mails.setInvitationToken(mail.about ?? '', hash);
    }
    return this.content.toUser(mail, values);
  }
}
