import { Injectable } from '@nestjs/common';
import { type MailRequest, parseMailReply, PRODUCT_SUBJECTS } from '#messaging/contract.js';
import { NatsConnection } from '#messaging/nats.connection.js';
import { DependencyUnavailableError } from '#platform/errors.js';
import { type MailAttempt, MailTransport } from './mail.transport.js';

/** Asks the product to send. The outbox keeps a mail until the product has accepted it. */
@Injectable()
export class ProductMailTransport extends MailTransport {
  readonly name = 'product';

  constructor(private readonly nats: NatsConnection) {
    super();
  }

  async send(message: MailRequest): Promise<MailAttempt> {
    try {
      const { status } = await this.nats.request(PRODUCT_SUBJECTS.sendMail, message, parseMailReply);
      return status === 'accepted'
        ? { outcome: 'sent', answer: 'accepted by the product' }
        : { outcome: 'refused', answer: 'refused by the product' };
    } catch (error) {
      if (!(error instanceof DependencyUnavailableError)) throw error;
      return { outcome: 'failed', answer: `the product does not answer ${PRODUCT_SUBJECTS.sendMail}` };
    }
  }

  async check(): Promise<string | null> {
    return null;
  }
}
