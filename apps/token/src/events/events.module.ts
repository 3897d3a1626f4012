import { Module } from '@nestjs/common';
import { DpopModule } from '../dpop/dpop.module.js';
import { TokenIntrospectionModule } from '../introspection/token-introspection.module.js';
import { EndedSessionsService } from './ended-sessions.service.js';
import { EventCounter } from './event-counter.js';
import { EventPushService } from './event-push.service.js';
import { EventTokenGuard } from './event-token.guard.js';
import { EventsController, SsfConfigurationController } from './events.controller.js';
import { HeaderResponder, HeaderSeal } from './header-seal.js';
import { LogoutDelivery } from './logout-delivery.js';
import { PollService } from './poll.service.js';
import { SecurityEventDelivery } from './security-event-delivery.js';
import { SecurityEventTokens } from './security-event-tokens.js';
import { StreamService } from './stream.service.js';

@Module({
  imports: [DpopModule, TokenIntrospectionModule],
  controllers: [EventsController, HeaderResponder, SsfConfigurationController],
  providers: [
    EndedSessionsService,
    EventCounter,
    EventPushService,
    EventTokenGuard,
    HeaderSeal,
    LogoutDelivery,
    PollService,
    SecurityEventDelivery,
    SecurityEventTokens,
    StreamService,
  ],
})
export class EventsModule {}
