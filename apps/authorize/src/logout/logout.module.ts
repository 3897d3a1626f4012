import { Module } from '@nestjs/common';
import { EndSessionRequestService } from './end-session-request.service.js';
import { LogoutReturnStore } from './logout-return.store.js';

/** Shared by the login modules, which register the controllers and LogoutService with their LogoutContinuation. */
@Module({
  providers: [EndSessionRequestService, LogoutReturnStore],
  exports: [EndSessionRequestService, LogoutReturnStore],
})
export class LogoutModule {}
