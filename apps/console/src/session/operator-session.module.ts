import { Module } from '@nestjs/common';
import { OperatorRoles, OperatorSessionsService } from './operator-sessions.service.js';
import { PrivilegedAccounts } from './privileged-accounts.js';

const SHARED = [OperatorRoles, OperatorSessionsService, PrivilegedAccounts];

@Module({ providers: SHARED, exports: SHARED })
export class OperatorSessionModule {}
