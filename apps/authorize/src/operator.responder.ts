import type { NatsConnection } from '@nats-io/transport-node';
import { type Fields, readObject, respond } from '#messaging/nats-message.js';

type Handler = (request: Fields) => Promise<object>;

/** Handlers of operators' NATS requests, by subject. Services register their handlers in their constructors. */
export class OperatorResponder {
  private readonly handlers = new Map<string, Handler>();

  register(subject: string, handler: Handler): void {
    this.handlers.set(subject, handler);
  }

  subscribe(nats: NatsConnection): void {
    for (const [subject, handle] of this.handlers)
      respond(nats, subject, async (message) => handle(readObject(message)), 'authorize');
  }
}
