import type { NatsConnection } from '@nats-io/transport-node';
import { type Fields, readObject } from '#messaging/nats-message.js';
import { respond } from '#messaging/respond.js';

type Answer = (request: Fields) => Promise<object>;

/** Answers to requests of operators over NATS, by subject. Services register theirs when they are created. */
export class OperatorRequests {
  private readonly answers = new Map<string, Answer>();

  register(subject: string, answer: Answer): void {
    this.answers.set(subject, answer);
  }

  subscribe(nats: NatsConnection): void {
    for (const [subject, answer] of this.answers)
      respond(nats, subject, async (message) => answer(readObject(message)), 'authorize');
  }
}
