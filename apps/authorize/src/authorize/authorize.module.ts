import { Module } from '@nestjs/common';
import { ConsentModule } from '../consent/consent.module.js';
import { SessionModule } from '../session/session.module.js';
import { UiModule } from '../ui/ui.module.js';
import { AuthorizationRequestService } from './authorization-request.service.js';
import { AuthorizationResponseService } from './authorization-response.service.js';
import { AuthorizationService } from './authorization.service.js';
import { AuthorizeController } from './authorize.controller.js';
import { PushedRequestService } from './pushed-request.service.js';

@Module({
  imports: [ConsentModule, SessionModule, UiModule],
  controllers: [AuthorizeController],
  providers: [
    AuthorizationRequestService,
    AuthorizationResponseService,
    AuthorizationService,
    PushedRequestService,
  ],
  exports: [AuthorizationRequestService, AuthorizationResponseService],
})
export class AuthorizeModule {}
