import { Module } from '@nestjs/common';
import { CookieDiagnosis } from './cookie-diagnosis.service.js';
import { FlashMessageStore } from './flash-message.store.js';
import { SessionCookie, SessionService } from './session.service.js';
import { SessionList } from './session-list.service.js';
import { SessionStore } from './session.store.js';

@Module({
  providers: [CookieDiagnosis, FlashMessageStore, SessionCookie, SessionList, SessionService, SessionStore],
  exports: [CookieDiagnosis, FlashMessageStore, SessionCookie, SessionService],
})
export class SessionModule {}
