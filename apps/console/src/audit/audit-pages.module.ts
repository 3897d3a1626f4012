import { Module } from '@nestjs/common';
import { RequestLimitsModule } from '../request-limits/request-limits.module.js';
import { AuditController } from './audit.controller.js';

@Module({ imports: [RequestLimitsModule], controllers: [AuditController] })
export class AuditPagesModule {}
