import { Module } from '@nestjs/common';
import { OperatorRoles } from './operator-roles.js';
import { OperatorSessionsService } from './operator-sessions.service.js';
import { PrivilegedAccounts } from './privileged-accounts.js';
import { RecentLoginsService } from './recent-logins.service.js';
import { ConsoleCookie, ConsoleDraftCookie } from './session.cookie.js';
import { SessionStore } from './session.store.js';

const SHARED = [
  ConsoleCookie,
  OperatorRoles,
  OperatorSessionsService,
  PrivilegedAccounts,
  RecentLoginsService,
  SessionStore,
];

@Module({ providers: [...SHARED, ConsoleDraftCookie], exports: SHARED })
export class SessionModule {}
