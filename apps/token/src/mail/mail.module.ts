import { Module } from '@nestjs/common';
import { NatsConnection } from '#messaging/nats.connection.js';
import { TokenConfiguration } from '../token.configuration.js';
import { MailContent } from './mail-content.js';
import { MailTransport } from './mail.transport.js';
import { MailService } from './mail.service.js';
import { ProductMailTransport } from './product-mail.transport.js';
import { SmtpTransport } from './smtp.transport.js';

@Module({
  providers: [
    MailContent,
    MailService,
    {
      provide: MailTransport,
      inject: [TokenConfiguration, NatsConnection],
      useFactory: (configuration: TokenConfiguration, nats: NatsConnection): MailTransport =>
        configuration.SMTP_URL === '' ? new ProductMailTransport(nats) : new SmtpTransport(configuration),
    },
  ],
})
export class MailModule {}
