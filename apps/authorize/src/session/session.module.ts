import { Module } from '@nestjs/common';
import { CookieDiagnosisService } from './cookie-diagnosis.service.js';
import { FlashMessageStore } from './flash-message.store.js';
import { LoginCookie, SessionCookie, SessionService } from './session.service.js';
import { SessionListService } from './session-list.service.js';
import { SessionStore } from './session.store.js';

@Module({
  providers: [
    CookieDiagnosisService,
    FlashMessageStore,
    LoginCookie,
    SessionCookie,
    SessionListService,
    SessionService,
    SessionStore,
  ],
  exports: [CookieDiagnosisService, FlashMessageStore, LoginCookie, SessionCookie, SessionService],
})
export class SessionModule {}
