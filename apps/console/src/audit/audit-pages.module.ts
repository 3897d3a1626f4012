import { Module } from '@nestjs/common';
import { RequestLimitsModule } from '../request-limits/request-limits.module.js';
import { AuditIndexTask } from './audit-index.task.js';
import { AuditController } from './audit.controller.js';

@Module({ imports: [RequestLimitsModule], controllers: [AuditController], providers: [AuditIndexTask] })
export class AuditPagesModule {}
