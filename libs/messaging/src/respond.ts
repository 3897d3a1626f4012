import type { Msg, NatsConnection as NatsClient } from '@nats-io/transport-node';
import { Logger } from '@nestjs/common';
import { messageOf } from '#platform/message-of.js';
import { expectsReply } from './nats-message.js';

const logger = new Logger('NATS');

type Answer = (message: Msg) => Promise<object>;

/** Replies in plain JSON. Sends no reply if `answer` fails. Without a queue group, every process gets every request. */
export function respond(nats: NatsClient, subject: string, answer: Answer, queue?: string): void {
  nats.subscribe(subject, {
    ...(queue !== undefined && { queue }),
    callback: (error, message) => {
      if (error) logger.error(`NATS: ${error.message}`);
      else if (expectsReply(message)) void reply(message, answer);
    },
  });
}

async function reply(message: Msg, answer: Answer): Promise<void> {
  try {
    message.respond(JSON.stringify(await answer(message)));
  } catch (error) {
    logger.error(`${message.subject}: ${messageOf(error)}`);
  }
}
