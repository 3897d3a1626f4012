import { Module } from '@nestjs/common';
import { RequestsModule } from '../requests/requests.module.js';
import { AuditIndexTask } from './audit-index.task.js';
import { AuditController } from './audit.controller.js';

@Module({ imports: [RequestsModule], controllers: [AuditController], providers: [AuditIndexTask] })
export class AuditPagesModule {}
