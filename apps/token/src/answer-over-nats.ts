import { type NatsOptions, Transport } from '@nestjs/microservices';
import { natsOptions } from '#introspection/nats-options.js';
import type { Configure } from '#service/http/service.js';

/** Makes the app answer over NATS: every request goes to one of its copies (queue group). */
export function answerOverNats(natsUrl: string): Configure {
  return (app) => {
    const options = { ...natsOptions(natsUrl, 'token responder'), queue: 'token' } as NonNullable<
      NatsOptions['options']
    >;
    app.connectMicroservice<NatsOptions>({ transport: Transport.NATS, options });
  };
}
