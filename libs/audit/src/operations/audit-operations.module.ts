import { Module } from '@nestjs/common';
import { AuditService } from './audit.service.js';
import { AuditIndexer } from './index/audit-indexer.js';
import { ClientHistoryService } from './explain/client-history.service.js';
import { ExplainService } from './explain/explain.service.js';
import { OverviewService } from './overview.service.js';
import { AuditIndex } from './index/audit-index.js';

const SERVICES = [AuditService, AuditIndexer, ClientHistoryService, ExplainService, OverviewService];

@Module({ providers: [AuditIndex, ...SERVICES], exports: SERVICES })
export class AuditOperationsModule {}
