import { Module } from '@nestjs/common';
import { OperatorRoles, OperatorSessionsService } from './operator-sessions.service.js';
import { PrivilegedAccounts } from './privileged-accounts.js';
import { RequestLimitsModule } from '../request-limits/request-limits.module.js';
import { FormCheck } from './form-check.js';
import { KeptFormsService } from './kept-forms.service.js';
import { RecentLogins } from './recent-logins.js';
import { BrowserCookie, ConsoleCookie } from './session.store.js';
import { OperatorSessionStore } from './operator-session.store.js';

const SHARED = [
  BrowserCookie,
  ConsoleCookie,
  FormCheck,
  KeptFormsService,
  OperatorRoles,
  OperatorSessionsService,
  PrivilegedAccounts,
  RecentLogins,
  OperatorSessionStore,
];

@Module({ imports: [RequestLimitsModule], providers: SHARED, exports: SHARED })
export class SessionModule {}
