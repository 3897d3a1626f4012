import { Module } from '@nestjs/common';
import { CookieDiagnosisService } from './cookie-diagnosis.service.js';
import { FlashMessageStore } from './flash-message.store.js';
import { LoginCookie, SessionService, UserSessionCookie } from './session.service.js';
import { SessionListService } from './session-list.service.js';
import { UserSessionStore } from './user-session.store.js';

@Module({
  providers: [
    CookieDiagnosisService,
    FlashMessageStore,
    LoginCookie,
    UserSessionCookie,
    SessionListService,
    SessionService,
    UserSessionStore,
  ],
  exports: [
    CookieDiagnosisService,
    FlashMessageStore,
    LoginCookie,
    UserSessionCookie,
    SessionService,
    UserSessionStore,
  ],
})
export class SessionModule {}
