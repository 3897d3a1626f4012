import { Module } from '@nestjs/common';
import { LoopIntervals } from '#platform/background-loop.js';
import { ClientAuthModule } from '../client-auth/client-auth.module.js';
import { DpopModule } from '../dpop/dpop.module.js';
import { UsageModule } from '../usage/usage.module.js';
import { DisabledClientsService } from './disabled-clients.service.js';
import { IntrospectionController } from './introspection.controller.js';
import { ResourceServerResponder } from './resource-server.responder.js';

@Module({
  imports: [ClientAuthModule, DpopModule, UsageModule],
  controllers: [IntrospectionController, ResourceServerResponder],
  providers: [{ provide: LoopIntervals, useValue: { pass: 5_000, retry: 1_000 } }, DisabledClientsService],
  exports: [DisabledClientsService],
})
export class TokenIntrospectionModule {}
