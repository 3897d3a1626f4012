import type { MailRequest } from '#messaging/contract.js';

export interface MailAttempt {
  readonly outcome: 'sent' | 'refused' | 'failed';
  /** Code or reason, without texts of servers, which may repeat credentials or addresses. */
  readonly answer: string;
}

/** Hands mails over to a mail server or to the product. */
export abstract class MailTransport {
  abstract readonly name: 'smtp' | 'product';
  abstract send(message: MailRequest): Promise<MailAttempt>;
  /** @returns what prevents every mail; null if nothing is known to */
  abstract check(): Promise<string | null>;
}
