import { createTransport, type NodemailerError, type SMTPTransportOptions } from 'nodemailer';
import type { MailRequest } from '#messaging/contract.js';
import { isLoopback } from '#oauth/redirect-uri.js';
import type { TokenConfiguration } from '../token.configuration.js';
import { type MailAttempt, MailTransport } from './mail.transport.js';

/** Limit of an attempt, shorter than the lease. */
const SEND_MS = 30_000;
const STEP_MS = 10_000;

/** Sends mails by SMTP. Each attempt is a connection, because mails are few. */
export class SmtpTransport extends MailTransport {
  readonly name = 'smtp';
  private readonly options: SMTPTransportOptions;

  constructor(private readonly configuration: TokenConfiguration) {
    super();
    const { protocol, hostname, port, username, password } = new URL(configuration.SMTP_URL);
    const isSecure = protocol === 'smtps:';
    // A relay on this machine often has a self-signed certificate, and the connection does not cross a network.
    const isLocal = isLoopback(hostname);
    this.options = {
      host: hostname.replace(/^\[(.+)\]$/, '$1'),
      port: port === '' ? (isSecure ? 465 : 587) : Number(port),
      secure: isSecure,
      requireTLS: !isSecure && !isLocal,
      ignoreTLS: isLocal,
      ...(username !== '' && {
        auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
      }),
      connectionTimeout: STEP_MS,
      greetingTimeout: STEP_MS,
      socketTimeout: STEP_MS,
      dnsTimeout: STEP_MS,
      logger: false,
      disableFileAccess: true,
      disableUrlAccess: true,
    };
  }

  async send({ id, to, subject, text, language }: MailRequest): Promise<MailAttempt> {
    const { MAIL_FROM, PRODUCT_NAME } = this.configuration;
    const smtp = createTransport(this.options);
    try {
      await smtp.sendMail({
        from: { name: PRODUCT_NAME, address: MAIL_FROM },
        to: { name: '', address: to },
        envelope: { from: MAIL_FROM, to },
        subject,
        text,
        messageId: `<${id}@${MAIL_FROM.slice(MAIL_FROM.lastIndexOf('@') + 1)}>`,
        // RFC 3834 5: no automatic reply answers the mail.
        headers: { 'Auto-Submitted': 'auto-generated', 'Content-Language': language },
        signal: AbortSignal.timeout(SEND_MS),
      });
      return { outcome: 'sent', answer: 'accepted by the mail server' };
    } catch (error) {
      return failureOf(error as NodemailerError);
    } finally {
      smtp.close();
    }
  }

  async check(): Promise<string | null> {
    const smtp = createTransport(this.options);
    try {
      await smtp.verify();
      return null;
    } catch (error) {
      return failureOf(error as NodemailerError).answer;
    } finally {
      smtp.close();
    }
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EAUTH: 'the mail server refuses the login',
  ENOAUTH: 'the mail server requires a login',
  ETLS: 'no TLS with the mail server',
  EDNS: 'the host of SMTP_URL is unknown',
  EENVELOPE: 'the mail server refuses the sender or recipient',
  EMESSAGE: 'the mail server refuses the message',
};

/** Codes of Node for certificates and handshakes, which nodemailer reports as ESOCKET. */
const TLS_CODE = /^[A-Z\d_/]*(CERT|TLS|SSL|SIGNATURE)[A-Z\d_/]*$/;

/** RFC 5321 4.2.1: a 5yz reply to the recipient or message is permanent. Any other failure may end. */
function failureOf({ code = '', originalCode = '', responseCode, command }: NodemailerError): MailAttempt {
  const isPermanent = Number(responseCode) >= 500 && (command === 'RCPT TO' || code === 'EMESSAGE');
  const isTls = TLS_CODE.test(originalCode);
  const reason = REASONS[isTls ? 'ETLS' : code] ?? 'the mail server cannot be reached';
  const detail = responseCode ?? (isTls ? originalCode : /^E[A-Z]+$/.test(code) ? code : 'no code');
  return { outcome: isPermanent ? 'refused' : 'failed', answer: `${reason} (${detail})` };
}
